"""Sizes read out of refusals: recorded wordings of servers as people run them, and others that nobody wrote yet."""

from __future__ import annotations

import pytest

from agents.model.window import Size, numbers_in, size_in

ASKED = 32000  # tokens of an answer
RECORDED = {  # name: words, tokens of the prompt as they are estimated; window, most of an answer, tokens of the prompt
    "vLLM": (
        "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context "
        "length is 32768 tokens and your request has 9000 input tokens (32000 > 32768 - 9000).",
        9500,
        (32768, None, 9000),
    ),
    "vLLM, sum": (
        "This model's maximum context length is 8192 tokens. However, you requested 41000 tokens "
        "(9000 in the messages, 32000 in the completion). Please reduce the length of the messages "
        "or completion.",
        9000,
        (8192, None, 9000),
    ),
    "vLLM, prompt alone": (
        "This model's maximum context length is 8192 tokens. However, your request has 9000 input "
        "tokens. Please reduce the length of the input messages.",
        9000,
        (8192, None, 9000),
    ),
    "vLLM, decoder": (
        "The decoder prompt (length 9000) is longer than the maximum model length of 8192. Make sure "
        "that `max_model_len` is no smaller than the number of text tokens.",
        8000,
        (8192, None, 9000),
    ),
    "OpenAI": (
        "max_tokens is too large: 32000. This model supports at most 16384 completion tokens, "
        "whereas you provided 32000.",
        9000,
        (None, 16384, None),
    ),
    "Anthropic, answer": (
        "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku-20241022",
        9000,
        (None, 8192, None),
    ),
    "Anthropic, both": (
        "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input "
        "length or `max_tokens` and try again",
        180000,
        (200000, None, 190000),
    ),
    "Anthropic, prompt": ("prompt is too long: 215000 tokens > 200000 maximum", 200000, (200000, None, 215000)),
    "DeepSeek": ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 9000, (None, 8192, None)),
    "Qwen": ("Range of max_tokens should be [1, 8192]", 9000, (None, 8192, None)),
    "TGI": (
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 9000 "
        "`inputs` tokens and 32000 `max_new_tokens`",
        9000,
        (4096, None, 9000),
    ),
    "TGI, prompt alone": (
        "Input validation error: `inputs` must have less than 1024 tokens. Given: 9000",
        9000,
        (1024, None, 9000),
    ),
    "llama.cpp, fields": (
        "the request exceeds the available context size. try increasing the context size or enable "
        'context shift {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 9000, '
        '"n_ctx": 4096}',
        9000,
        (4096, None, 9000),
    ),
    "llama.cpp": (
        "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it",
        9000,
        (4096, None, 9000),
    ),
    "llama-cpp-python": (
        "This model's maximum context length is 4096 tokens, however you requested 41000 tokens "
        "(9000 in your prompt; 32000 for the completion). Please reduce your prompt; or completion "
        "length.",
        9000,
        (4096, None, 9000),
    ),
    "llama-cpp-python, older": ("Requested tokens (9000) exceed context window of 4096", 9000, (4096, None, 9000)),
    "SGLang": (
        "Requested token count exceeds the model's maximum context length of 32768 tokens. You "
        "requested a total of 41000 tokens: 9000 tokens from the input messages and 32000 tokens for "
        "the completion. Please reduce the number of tokens in the input messages or the completion "
        "to fit within the limit.",
        9000,
        (32768, None, 9000),
    ),
    "SGLang, prompt alone": (
        "The input (9000 tokens) is longer than the model's context length (4096 tokens).",
        9000,
        (4096, None, 9000),
    ),
    "LiteLLM": (
        "litellm.BadRequestError: litellm.ContextWindowExceededError: litellm.BadRequestError: "
        "ContextWindowExceededError: OpenAIException - This model's maximum context length is 8,192 "
        "tokens. However, your messages resulted in 9,000 tokens. Please reduce the length of the "
        "messages.. Received Model Group=m",
        9000,
        (8192, None, 9000),
    ),
    "Ollama": ("the prompt of 9000 tokens is too long for num_ctx 4096", 9000, (4096, None, 9000)),
    "Ollama, no numbers": ("input length exceeds the context length", 9000, (None, None, None)),
    "Gemini": (
        "The input token count (9000) exceeds the maximum number of tokens allowed (8192).",
        9000,
        (8192, None, 9000),
    ),
    "Gemini, answer": (
        "Unable to submit request because it has a maxOutputTokens value of 32000 but the supported "
        "range is from 1 (inclusive) to 8193 (exclusive). Update the value and try again.",
        9000,
        (None, 8193, None),
    ),
    "Mistral": (
        "Prompt contains 9000 tokens and 32000 draft tokens, too large for model with 32768 maximum context length",
        9000,
        (32768, None, 9000),
    ),
    "Groq, a minute": (
        "Request too large for model `llama` in organization `org_01` service tier `on_demand` on "
        "tokens per minute (TPM): Limit 6000, Requested 41000, please reduce your message size and "
        "try again.",
        9000,
        (6000, None, None),
    ),
    "OpenRouter": (
        "This endpoint's maximum context length is 32768 tokens. However, you requested about 41000 "
        "tokens (9000 of text input, 32000 in the output). Please reduce the length of either one",
        9100,
        (32768, None, 9000),
    ),
    "another language": (
        "Das Kontextfenster (context window) fasst 32768 Token, die Anfrage braucht mehr als das: 9000 + 32000",
        9000,
        (32768, None, 9000),
    ),
    "another order": ("41000 > 32768: prompt 9000 plus 32000 exceed the window", 9000, (32768, None, 9000)),
    "labels alone": ("Please reduce: input 30000, context 32768, answer 32000", 29000, (32768, None, 30000)),
}
OTHERS = {
    "a minute that is used up": (
        "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, "
        "Used 29000, Requested 5000. Please try again in 8s."
    ),
    "another name": (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    ),
    "an unknown name": ("max_tokens: extra fields not permitted"),
    "temperature": ("temperature is not supported"),
    "tools": ('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    "no such model": ("The model `gpt-9` does not exist or you do not have access to it."),
    "a page": ("<html><head><title>413 Request Entity Too Large</title></head>"),
}


@pytest.mark.parametrize("name", RECORDED)
def test_the_sizes_are_read_whatever_the_words(name: str) -> None:
    text, prompt, (window, answer, told) = RECORDED[name]
    assert size_in(text, ASKED, prompt) == Size(window, answer, told)


@pytest.mark.parametrize("name", OTHERS)
def test_a_refusal_of_something_else_has_no_size(name: str) -> None:
    assert size_in(OTHERS[name], ASKED, 9000) is None


@pytest.mark.parametrize("window", [4096, 8192, 32768, 131072])
@pytest.mark.parametrize("prompt", [3000, 9000, 30000, 120000])
@pytest.mark.parametrize(
    "words",
    [
        "context window {window} exceeded by {prompt} + {asked}",
        "{prompt} tokens of input and {asked} of output exceed the window of {window}",
        "the total of {total} tokens is more than the model's context of {window} ({prompt} in, {asked} out)",
        "limit of the context: {window:,}; you sent {prompt:,}",
    ],
)
def test_window_and_prompt_are_told_apart(words: str, prompt: int, window: int) -> None:
    if prompt + ASKED <= window:
        return  # nothing is refused
    text = words.format(window=window, prompt=prompt, asked=ASKED, total=prompt + ASKED)
    found = size_in(text, ASKED, 1.2 * prompt)
    assert found is not None and found.window == window


def test_numbers_are_read_in_each_spelling() -> None:
    assert numbers_in("32,768 or 32_768, 8k, 16384. Not 7, nor gpt-4o-2024") == [32768, 8192, 16384]
