import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runA2aClient } from "./python-a2a.ts";
import { preparePython, runPython, startSpanline, type Step } from "./run-python.ts";

/**
 * Runs the Python agent frameworks against a server over an emulated harness, as their users would. Each framework has
 * a local tool, and must not run the tool the agent has already run. Then runs the A2A client. Exits with 1 if a client
 * returns another result. `PYTHON` names another interpreter.
 */

const PACKAGES = [
  "openai-agents==0.24.0",
  "pydantic-ai-slim[openai]==2.66.0",
  "inspect-ai==0.3.285",
  "langchain-openai==1.7.3",
  "openai==3.51.0",
];

const TURNS = {
  turns: [
    {
      when: "shoes",
      answer: [{ server: "look_up", input: { query: "shoes" }, result: "[]" }, "We have no shoes."],
    },
    { when: { result: "get_weather" }, answer: "It is 18 degrees in Paris." },
    { when: "warm", answer: [{ call: "get_weather", input: { location: "Paris" } }] },
    { when: "Who am I", answer: "You are Alice." },
    { when: "Alice", answer: "Hello Alice." },
  ],
};

const EXPECTED_RESULTS = {
  shoes: "We have no shoes.",
  rounds: 1,
  warm: "It is 18 degrees in Paris.",
  again: "You are Alice.",
};

const EXPECTED: readonly Step[] = [
  { step: "openai-agents", streamed: false, ...EXPECTED_RESULTS },
  { step: "openai-agents", streamed: true, ...EXPECTED_RESULTS },
  {
    step: "openai-agents with a conversation",
    again: EXPECTED_RESULTS.again,
    items: ["user", "assistant", "user", "assistant"],
  },
  { step: "pydantic-ai", streamed: false, ...EXPECTED_RESULTS },
  { step: "pydantic-ai", streamed: true, ...EXPECTED_RESULTS },
  { step: "inspect-ai", streamed: false, ...EXPECTED_RESULTS },
  { step: "LangChain", streamed: false, ...EXPECTED_RESULTS },
  { step: "LangChain", streamed: true, ...EXPECTED_RESULTS },
];

const PROGRAM = `
import asyncio, json, os, sys

base_url, model = sys.argv[1:]
api_key = "no key is needed"
os.environ.update(OPENAI_API_KEY=api_key, OPENAI_BASE_URL=base_url)

SHOES, WARM = "Any shoes?", "How warm is it in Paris?"


def say(step, **facts):
    print(json.dumps({"step": step, **facts}), flush=True)


def weather(location: str) -> str:
    return "18 degrees" if location == "Paris" else "unknown"


async def openai_agents():
    from agents import Agent, OpenAIConversationsSession, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
    from openai import AsyncOpenAI

    set_tracing_disabled(True)

    @function_tool
    def get_weather(location: str) -> str:
        """The weather at a place."""
        return weather(location)

    client = AsyncOpenAI(base_url=base_url, api_key=api_key, max_retries=0)
    agent = Agent(name="Assistant", model=OpenAIResponsesModel(model, client), tools=[get_weather])

    async def run(prompt, streamed):
        if not streamed:
            return await Runner.run(agent, prompt)
        result = Runner.run_streamed(agent, prompt)
        async for _ in result.stream_events():
            pass
        return result

    for streamed in (False, True):
        shoes = await run(SHOES, streamed)
        warm = await run(WARM, streamed)
        first = await run("I am Alice.", streamed)
        second = await run(first.to_input_list() + [{"role": "user", "content": "Who am I?"}], streamed)
        say(
            "openai-agents", streamed=streamed, shoes=shoes.final_output, rounds=len(shoes.raw_responses),
            warm=warm.final_output, again=second.final_output,
        )
    kept = OpenAIConversationsSession(openai_client=client)
    for prompt in ("I am Alice.", "Who am I?"):
        result = await Runner.run(agent, prompt, session=kept)
    items = [item.get("role") for item in await kept.get_items()]
    say("openai-agents with a conversation", again=result.final_output, items=items)


async def pydantic_ai():
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    agent = Agent(OpenAIResponsesModel(model, provider=OpenAIProvider(base_url=base_url, api_key=api_key)))

    @agent.tool_plain
    def get_weather(location: str) -> str:
        """The weather at a place."""
        return weather(location)

    async def run(prompt, streamed, history=None):
        if not streamed:
            return await agent.run(prompt, message_history=history)
        async with agent.run_stream(prompt, message_history=history) as result:
            async for _ in result.stream_text():
                pass
            return result

    async def output(result):
        return result.output if hasattr(result, "output") else await result.get_output()

    for streamed in (False, True):
        shoes = await run(SHOES, streamed)
        warm = await run(WARM, streamed)
        first = await run("I am Alice.", streamed)
        second = await run("Who am I?", streamed, first.all_messages())
        rounds = sum(message.kind == "response" for message in shoes.all_messages())
        say(
            "pydantic-ai", streamed=streamed, shoes=await output(shoes), rounds=rounds,
            warm=await output(warm), again=await output(second),
        )


async def inspect_ai():
    from inspect_ai.model import ChatMessageUser, GenerateConfig, execute_tools, get_model
    from inspect_ai.tool import tool

    @tool
    def get_weather():
        async def execute(location: str) -> str:
            """The weather at a place.

            Args:
                location: The place.
            """
            return weather(location)

        return execute

    asked = get_model(
        f"openai/{model}", base_url=base_url, api_key=api_key, responses_api=True,
        config=GenerateConfig(max_retries=0), memoize=False,
    )

    async def run(messages):
        messages = list(messages)
        for rounds in range(1, 5):
            output = await asked.generate(messages, tools=[get_weather()])
            messages.append(output.message)
            if not output.message.tool_calls:
                return output.completion, rounds, messages
            messages += (await execute_tools(messages, [get_weather()])).messages

    shoes, rounds, _ = await run([ChatMessageUser(content=SHOES)])
    warm, _, _ = await run([ChatMessageUser(content=WARM)])
    _, _, messages = await run([ChatMessageUser(content="I am Alice.")])
    again, _, _ = await run([*messages, ChatMessageUser(content="Who am I?")])
    say("inspect-ai", streamed=False, shoes=shoes, rounds=rounds, warm=warm, again=again)


async def langchain():
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI

    @tool
    def get_weather(location: str) -> str:
        """The weather at a place."""
        return weather(location)

    chat = ChatOpenAI(model=model, base_url=base_url, api_key=api_key, use_responses_api=True, max_retries=0)
    able = chat.bind_tools([get_weather])

    async def answer(messages, streamed):
        if not streamed:
            return await able.ainvoke(messages)
        whole = None
        async for chunk in able.astream(messages):
            whole = chunk if whole is None else whole + chunk
        return whole

    async def run(messages, streamed):
        messages = list(messages)
        for rounds in range(1, 5):
            message = await answer(messages, streamed)
            messages.append(message)
            if not message.tool_calls:
                return message.text, rounds, messages
            messages += [await get_weather.ainvoke(call) for call in message.tool_calls]

    for streamed in (False, True):
        shoes, rounds, _ = await run([HumanMessage(SHOES)], streamed)
        warm, _, _ = await run([HumanMessage(WARM)], streamed)
        _, _, messages = await run([HumanMessage("I am Alice.")], streamed)
        again, _, _ = await run([*messages, HumanMessage("Who am I?")], streamed)
        say("LangChain", streamed=streamed, shoes=str(shoes), rounds=rounds, warm=str(warm), again=str(again))


async def main():
    for client in (openai_agents, pydantic_ai, inspect_ai, langchain):
        try:
            await client()
        except Exception as error:
            say(client.__name__, error=f"{type(error).__name__}: {error}"[:600])


asyncio.run(main())
`;

const python = preparePython("clients", PACKAGES);
const folder = mkdtempSync(join(tmpdir(), "spanline-clients-"));
const [turns, config] = [join(folder, "turns.json"), join(folder, "config.json")];
writeFileSync(turns, JSON.stringify(TURNS));
const emulator = await startSpanline(["emulate", "--brain", `script:${turns}`]);
try {
  const { url: endpoint, harness: arn } = emulator.output;
  const provider = { type: "harness", arn, endpoint };
  writeFileSync(config, JSON.stringify({ agents: { shop: { provider } } }));
  const server = await startSpanline(["serve", "-c", config, "-d", join(folder, "data")], {
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
  });
  try {
    const args = [`${server.output["url"]}/v1`, "shop"];
    process.exitCode = (await runPython(python, PROGRAM, EXPECTED, { args })) ? 0 : 1;
  } finally {
    server.stop();
  }
} finally {
  emulator.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
if (!(await runA2aClient())) process.exitCode = 1;
