"""The scientists: selector, retriever, planner, coder, critic; by a language model or by the playbook."""
