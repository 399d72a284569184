import os

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"  # read once, when langgraph is imported
