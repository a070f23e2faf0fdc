import { describe, expect, it } from "vitest";
import type { ModelMessage } from "../../src/domain/model/model-request.ts";
import { AbortError, ProviderError } from "../../src/domain/provider/provider-error.ts";
import { createToolCall, createToolSuccess } from "../../src/domain/tools/tool-call.ts";
import type { TurnBlock } from "../../src/domain/provider/turn.ts";
import type {
  InvocationInput,
  InvocationOptions,
  Provider,
  ProviderSession,
} from "../../src/providers/provider.ts";
import { catchRejection, readTurn } from "../support/session/provider-session.ts";

/** A kind of provider whose agent plays `CONTRACT_SCENARIO`, `RECOUNT` and `TOOLS`. */
export interface ContractSubject {
  start(): Promise<WatchedProvider>;
  /** Matches the error of an invocation which a busy service refuses. */
  readonly refusal: object;
  /** Matches the details of a failure inside the stream. */
  readonly failureDetails: object;
  /** Matches the request id which the service's support needs. */
  readonly requestId: unknown;
}

export interface WatchedProvider {
  readonly provider: Provider;
  /** Number of requests from the provider to its service. */
  readonly visits: () => number;
  /** Resolves when no request is in flight. */
  readonly quiet: () => Promise<void>;
}

/**
 * The behaviour required of a subject's agent, as an emulator script. Agents outside the emulator must behave the same.
 */
export const CONTRACT_SCENARIO = `
chunk: 4
turns:
  - { when: hello, answer: Hello there. }
  - { when: long, answer: [Once upon a time, { pause: 600000 }, there was an end.] }
  - { when: fail, answer: [So far, { fail: { type: internalServerException, message: oops } }] }
  - { when: refuse, refuse: { status: 429, type: ThrottlingException, message: slow down } }
  - { when: call, answer: [One moment., { call: look, id: call_1, input: { at: it } }] }
  - { when: { result: { tool: look } }, answer: Thank you. }
`;

/** For this prompt, the agent repeats everything it knows of the conversation. */
export const RECOUNT = "recount";
/** For this prompt, the agent lists its tools. */
export const TOOLS = "toolbox";

const { signal } = new AbortController();
const say = (text: string) => ({ type: "prompt", texts: [text] }) as const;

/** The contract of every provider. */
export function providerContract(name: string, subject: () => ContractSubject): void {
  describe(`The provider contract: ${name}`, () => {
    it("A provider declares its name and its capabilities", async () => {
      const { provider } = await subject().start();
      expect(provider).toMatchObject({ name, effectFree: expect.any(Boolean) });
      expect(provider.injectionPoints).toContain("turn-start");
    });

    it("A provider opens a new or a named session without a request", async () => {
      const { provider, visits } = await subject().start();
      const { id } = provider.open();
      expect(provider.open().id).not.toBe(id);
      expect(provider.open({ sessionId: id }).id).toBe(id);
      expect(visits()).toBe(0);
    });

    it("A turn is streamed and has exactly one end event, the last one", async () => {
      const { provider } = await subject().start();
      const call = await provider.open().invoke(say("hello"), { signal });
      const types: string[] = [];
      const seen = async function* () {
        for await (const event of call) {
          types.push(event.type);
          yield event;
        }
      };
      expect(await readTurn(seen())).toMatchObject({
        text: "Hello there.",
        end: { outcome: "completed" },
      });
      expect(types.filter((type) => type === "end")).toHaveLength(1);
      expect(types.at(-1)).toBe("end");
    });

    it("An invocation has a request id and can be read once", async () => {
      const { provider } = await subject().start();
      const call = await provider.open().invoke(say("hello"), { signal });
      expect(call.requestId).toEqual(subject().requestId);
      await readTurn(call);
      expect(() => call[Symbol.asyncIterator]()).toThrow("read only once");
    });

    it("A conversation continues in the next invocation and after it is opened again", async () => {
      const { provider } = await subject().start();
      const session = provider.open();
      await hear(session, say("hello"));
      const known = await hear(session, say(RECOUNT));
      expect(known).toContain("hello");
      expect(known).toContain("Hello there.");
      const again = await hear(provider.open({ sessionId: session.id }), say(RECOUNT));
      expect(again).toContain("Hello there.");
      expect(await hear(provider.open(), say(RECOUNT))).not.toContain("Hello there.");
    });

    it("The connection is closed if the reader stops", async () => {
      const { provider, visits, quiet } = await subject().start();
      const call = await provider.open().invoke(say("long"), { signal });
      for await (const event of call) if (event.type === "text.delta") break;
      await quiet();
      expect(visits()).toBe(1);
    });

    it("The connection of an unread invocation can be closed", async () => {
      const { provider, visits, quiet } = await subject().start();
      const call = await provider.open().invoke(say("long"), { signal });
      call.close();
      await quiet();
      expect(visits()).toBe(1);
    });

    it("An abort of the caller is thrown and closes the connection", async () => {
      const { provider, quiet } = await subject().start();
      const controller = new AbortController();
      const call = await provider.open().invoke(say("long"), { signal: controller.signal });
      const reading = (async () => {
        for await (const event of call) {
          if (event.type === "text.delta") controller.abort("enough");
        }
      })();
      const error = await catchRejection(reading);
      expect(error).toBeInstanceOf(AbortError);
      expect(error).toMatchObject({ cause: "enough" });
      await quiet();
    });

    it("A failure inside the stream ends the turn and keeps the partial text", async () => {
      const { provider } = await subject().start();
      const turn = await readTurn(await provider.open().invoke(say("fail"), { signal }));
      expect(turn.text).toBe("So far");
      expect(turn.end).toMatchObject({
        outcome: "failed",
        openToolCallIds: [],
        failure: { details: subject().failureDetails },
      });
    });

    it("A refusal before any output is thrown and not retried", async () => {
      const { provider, visits } = await subject().start();
      const error = await catchRejection(provider.open().invoke(say("refuse"), { signal }));
      expect(error).toBeInstanceOf(ProviderError);
      expect(error).toMatchObject(subject().refusal);
      expect(visits()).toBe(1);
    });

    it("The agent gets the history once, with tool calls and results", async () => {
      const { provider } = await subject().start();
      const session = provider.open({ history: HISTORY });
      expect(await hear(session, say("hello"))).toBe("Hello there.");
      const known = await hear(session, say(RECOUNT));
      for (const words of ["My name is Ada", "Nice to meet you", "lost and found"]) {
        expect(known.split(words)).toHaveLength(2);
      }
      for (const words of ["searcher", "waster", "outcome of this call is unknown"]) {
        expect(known).toContain(words);
      }
      const later = await hear(provider.open({ sessionId: session.id }), say(RECOUNT));
      expect(later).toContain("My name is Ada");
    });

    it("The history is sent again if the first invocation was refused", async () => {
      const { provider } = await subject().start();
      const session = provider.open({ history: [createMessage("user", "My name is Ada")] });
      await catchRejection(session.invoke(say("refuse"), { signal }));
      expect(await hear(session, say(RECOUNT))).toContain("My name is Ada");
    });

    it("A session with a history can have an id chosen by the caller", async () => {
      const { provider } = await subject().start();
      const sessionId = `made-by-the-caller-${"0".repeat(20)}`;
      const session = provider.open({ sessionId, history: HISTORY });
      expect(session.id).toBe(sessionId);
      expect(await hear(session, say(RECOUNT))).toContain("My name is Ada");
    });
  });
}

/** The additional contract of providers which return tool calls to the caller. */
export function callsContract(name: string, subject: () => ContractSubject): void {
  describe(`The provider ${name} with client tools`, () => {
    it("Tool calls are returned to the caller, and their results are accepted", async () => {
      const { provider, turn, answer } = await askForCall(subject());
      expect(provider.injectionPoints).toContain("tool-results");
      expect(turn.end).toMatchObject({ outcome: "action-required", openToolCallIds: ["call_1"] });
      expect(await answer()).toBe("Thank you.");
    });

    it("Text is accepted together with results", async () => {
      const { answer } = await askForCall(subject());
      const known = await answer(["Be quick", RECOUNT]);
      for (const words of ["look", "seen", "Be quick"]) expect(known).toContain(words);
    });

    it("Results are accepted as the first input of a session with a history", async () => {
      const { provider, turn } = await askForCall(subject());
      const results = [createToolSuccess("call_1", "seen")];
      const session = provider.open({ history: [createMessage("user", "My name is Ada")] });
      const known = await hear(session, { type: "results", turn, results, texts: [RECOUNT] });
      for (const words of ["My name is Ada", "look", "seen"]) expect(known).toContain(words);
    });

    it("Offered tools are visible to the agent", async () => {
      const { provider } = await subject().start();
      expect(await hear(provider.open(), say(TOOLS))).not.toContain("telescope");
      const tools = [{ name: "telescope", description: "Looks far", schema: { type: "object" } }];
      expect(await hear(provider.open(), say(TOOLS), { tools })).toContain("telescope");
    });
  });
}

/** The additional contract of providers whose agent runs its own tools. */
export function noCallsContract(name: string, subject: () => ContractSubject): void {
  describe(`The provider ${name} without client tools`, () => {
    it("No tool call is returned to the caller, and results are refused", async () => {
      const { provider, turn, answer } = await askForCall(subject());
      expect(provider.injectionPoints).not.toContain("tool-results");
      expect(turn.toolCalls).toEqual([]);
      expect(await catchRejection(answer())).toMatchObject({ code: "invalid_option" });
    });

    it("Offered tools are refused", async () => {
      const { provider, visits } = await subject().start();
      const tools = [{ name: "telescope", description: "Looks far", schema: { type: "object" } }];
      const offered = provider.open().invoke(say(TOOLS), { signal, tools });
      expect(await catchRejection(offered)).toMatchObject({ code: "invalid_option" });
      expect(visits()).toBe(0);
    });
  });
}

async function hear(
  session: ProviderSession,
  input: InvocationInput,
  options: Partial<InvocationOptions> = {},
): Promise<string> {
  return (await readTurn(await session.invoke(input, { signal, ...options }))).text;
}

async function askForCall(subject: ContractSubject) {
  const { provider } = await subject.start();
  const session = provider.open();
  const turn = await readTurn(await session.invoke(say("call"), { signal }));
  const results = [createToolSuccess("call_1", "seen")];
  const answer = (texts: readonly string[] = []): Promise<string> =>
    hear(session, { type: "results", turn, results, texts });
  return { provider, turn, answer };
}

function createMessage(role: ModelMessage["role"], ...texts: readonly string[]): ModelMessage {
  return { role, blocks: texts.map((text) => ({ type: "text", text })) };
}

/** Has ids which some services do not accept, and an unanswered tool call. */
const HISTORY: readonly ModelMessage[] = [
  createMessage("user", "My name is Ada"),
  {
    role: "assistant",
    blocks: [...createMessage("assistant", "Nice to meet you").blocks, use("a.b:1", "searcher")],
  },
  {
    role: "user",
    blocks: [{ type: "tool-result", result: createToolSuccess("a.b:1", "lost and found") }],
  },
  { role: "assistant", blocks: [use("a.b:2", "waster")] },
];

function use(id: string, name: string): TurnBlock {
  return {
    type: "tool-call",
    toolCall: createToolCall({ id, name, inputText: "{}", runBy: "client" }),
  };
}
