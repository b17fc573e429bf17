"""Uses a server through the official Python clients, and prints what they got as JSON.

Arguments: the address of the server, an API key.
"""
import json
import sys

import anthropic
import openai
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

url, key = sys.argv[1:]
ASK = {"model": "small", "messages": [{"role": "user", "content": "Hello"}]}
SERVER_TOOLS = {"tool_ids": ["dice"]}
LOOK = {"type": "object", "properties": {"at": {"type": "integer"}}, "required": ["at"]}
got = {}


def with_openai():
    client = openai.OpenAI(api_key=key, base_url=f"{url}/v1", max_retries=0)
    whole = client.chat.completions.create(**ASK)
    got["openai whole"] = [whole.choices[0].message.content, whole.usage.total_tokens]
    # As many programs do: the first choice of every chunk.
    chunks = list(client.chat.completions.create(**ASK, stream=True))
    got["openai stream"] = ["".join(c.choices[0].delta.content or "" for c in chunks), chunks[-1].usage.total_tokens]
    with client.chat.completions.stream(**ASK, extra_body=SERVER_TOOLS) as stream:
        for _ in stream:
            pass
        final = stream.get_final_completion()
    got["openai tools of the server"] = [final.choices[0].message.role, final.choices[0].message.content]
    tool = {"type": "function", "function": {"name": "look", "parameters": LOOK}}
    called = client.chat.completions.create(**ASK, tools=[tool]).choices[0]
    got["openai tools"] = [called.finish_reason, called.message.tool_calls[0].function.arguments]
    got["openai models"] = [model.id for model in client.models.list()] + [client.models.retrieve("small").id]
    got["openai embeddings"] = client.embeddings.create(model="small", input=["four"]).data[0].embedding
    try:
        client.chat.completions.create(**{**ASK, "model": "none"})
    except openai.NotFoundError as error:
        got["openai error"] = [error.code, error.param]
    try:
        openai.OpenAI(api_key="sk-wrong", base_url=f"{url}/v1").models.list()
    except openai.AuthenticationError as error:
        got["openai credentials"] = error.code


def with_anthropic():
    client = anthropic.Anthropic(api_key=key, base_url=url, max_retries=0)
    ask = {**ASK, "max_tokens": 50}
    whole = client.messages.create(**ask)
    got["anthropic whole"] = [whole.content[0].text, whole.usage.output_tokens]
    with client.messages.stream(**ask, extra_body=SERVER_TOOLS) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    got["anthropic stream"] = [text, final.stop_reason, final.usage.input_tokens]
    called = client.messages.create(**ask, tools=[{"name": "look", "input_schema": LOOK}])
    got["anthropic tools"] = [called.stop_reason, called.content[-1].input]
    got["anthropic tokens"] = client.messages.count_tokens(**ASK).input_tokens
    got["anthropic models"] = [model.id for model in client.models.list()]
    try:
        client.messages.create(**{**ask, "model": "none"})
    except anthropic.NotFoundError as error:
        got["anthropic error"] = error.body["error"]["type"]


def with_langchain():
    model = ChatOpenAI(model="small", api_key=key, base_url=f"{url}/v1", max_retries=0)
    whole = model.invoke([HumanMessage("Hello")])
    got["langchain whole"] = [whole.content, whole.usage_metadata["total_tokens"]]
    joined = None
    for chunk in model.stream("Hello"):
        joined = chunk if joined is None else joined + chunk
    got["langchain stream"] = [joined.content, joined.usage_metadata["total_tokens"]]
    look = {"title": "look", "description": "Looks", **LOOK}
    got["langchain tools"] = model.bind_tools([look]).invoke("Hello").tool_calls[0]["args"]
    embeddings = OpenAIEmbeddings(model="small", api_key=key, base_url=f"{url}/v1", check_embedding_ctx_length=False)
    got["langchain embeddings"] = embeddings.embed_query("four")


with_openai()
with_anthropic()
with_langchain()
print(json.dumps(got))
