import { describe, expect, it } from "vitest";
import type { ModelMessage } from "../../src/domain/model/model-request.ts";
import { AbortError, ProviderError } from "../../src/domain/provider/provider-error.ts";
import { createToolCall, toolSuccess } from "../../src/domain/tools/tool-call.ts";
import type { TurnBlock } from "../../src/domain/provider/turn.ts";
import type {
  InvocationInput,
  InvocationOptions,
  Provider,
  ProviderSession,
} from "../../src/providers/provider.ts";
import { catchRejection, readTurn } from "../support/session/provider-session.ts";

/** A kind of provider, with an agent behind it that plays its part: `CONTRACT_SCENARIO`, `RECOUNT` and `TOOLS`. */
export interface ContractSubject {
  start(): Promise<WatchedProvider>;
  /** Matches the error of a call that a busy service refuses. */
  readonly refusal: object;
  /** Matches the details of a failure inside the stream. */
  readonly failureDetails: object;
  /** Matches the id that a call has for the support of its service. */
  readonly requestId: unknown;
}

export interface WatchedProvider {
  readonly provider: Provider;
  /** How often the provider has gone to its service. */
  readonly visits: () => number;
  /** Resolves when nothing of any call is left on the way. */
  readonly quiet: () => Promise<void>;
}

/**
 * What the agent of a subject must do, as a script for the emulator. A provider whose agent is no emulator's plays the
 * same.
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

/** Asked with this word, the agent says all that it knows of the conversation. */
export const RECOUNT = "recount";
/** Asked with this word, the agent names its tools. */
export const TOOLS = "toolbox";

const { signal } = new AbortController();
const say = (text: string) => ({ type: "prompt", texts: [text] }) as const;

/** Every provider passes this. */
export function providerContract(name: string, subject: () => ContractSubject): void {
  describe(`the provider contract: ${name}`, () => {
    it("says what it is", async () => {
      const { provider } = await subject().start();
      expect(provider).toMatchObject({ name, effectFree: expect.any(Boolean) });
      expect(provider.injectionPoints).toContain("turn-start");
    });

    it("opens a new conversation each time, or the one that is named, and goes nowhere for it", async () => {
      const { provider, visits } = await subject().start();
      const { id } = provider.open();
      expect(provider.open().id).not.toBe(id);
      expect(provider.open({ sessionId: id }).id).toBe(id);
      expect(visits()).toBe(0);
    });

    it("streams a turn that ends once, at its end", async () => {
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

    it("knows a call by an id for its service's support, and lets it be read once", async () => {
      const { provider } = await subject().start();
      const call = await provider.open().invoke(say("hello"), { signal });
      expect(call.requestId).toEqual(subject().requestId);
      await readTurn(call);
      expect(() => call[Symbol.asyncIterator]()).toThrow("read once");
    });

    it("goes on with a conversation in the next call, and when it is opened again", async () => {
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

    it("closes its connection when the reader leaves", async () => {
      const { provider, visits, quiet } = await subject().start();
      const call = await provider.open().invoke(say("long"), { signal });
      for await (const event of call) if (event.type === "text.delta") break;
      await quiet();
      expect(visits()).toBe(1);
    });

    it("closes the connection of a call that nobody reads", async () => {
      const { provider, visits, quiet } = await subject().start();
      const call = await provider.open().invoke(say("long"), { signal });
      call.close();
      await quiet();
      expect(visits()).toBe(1);
    });

    it("throws the caller's abort, and closes its connection", async () => {
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

    it("tells a failure inside the stream as the end of the turn, with what was said before", async () => {
      const { provider } = await subject().start();
      const turn = await readTurn(await provider.open().invoke(say("fail"), { signal }));
      expect(turn.text).toBe("So far");
      expect(turn.end).toMatchObject({
        outcome: "failed",
        openToolCallIds: [],
        failure: { details: subject().failureDetails },
      });
    });

    it("throws a refusal, as nothing was said, and does not try again", async () => {
      const { provider, visits } = await subject().start();
      const error = await catchRejection(provider.open().invoke(say("refuse"), { signal }));
      expect(error).toBeInstanceOf(ProviderError);
      expect(error).toMatchObject(subject().refusal);
      expect(visits()).toBe(1);
    });

    it("tells its agent once what was said before, calls and results and all", async () => {
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

    it("tells it again when nothing came of the first call", async () => {
      const { provider } = await subject().start();
      const session = provider.open({ history: [said("user", "My name is Ada")] });
      await catchRejection(session.invoke(say("refuse"), { signal }));
      expect(await hear(session, say(RECOUNT))).toContain("My name is Ada");
    });

    it("begins a conversation with a history under an id that the caller made", async () => {
      const { provider } = await subject().start();
      const sessionId = `made-by-the-caller-${"0".repeat(20)}`;
      const session = provider.open({ sessionId, history: HISTORY });
      expect(session.id).toBe(sessionId);
      expect(await hear(session, say(RECOUNT))).toContain("My name is Ada");
    });
  });
}

/** And this, if it hands calls to us. */
export function callsContract(name: string, subject: () => ContractSubject): void {
  describe(`the provider ${name}, whose agent has tools here,`, () => {
    it("leaves calls to us, and takes their results", async () => {
      const { provider, turn, answer } = await askForCall(subject());
      expect(provider.injectionPoints).toContain("tool-results");
      expect(turn.end).toMatchObject({ outcome: "action-required", openToolCallIds: ["call_1"] });
      expect(await answer()).toBe("Thank you.");
    });

    it("takes text beside the results", async () => {
      const { answer } = await askForCall(subject());
      const known = await answer(["Be quick", RECOUNT]);
      for (const words of ["look", "seen", "Be quick"]) expect(known).toContain(words);
    });

    it("takes results as the first that it hears, behind what was said before them", async () => {
      const { provider, turn } = await askForCall(subject());
      const results = [toolSuccess("call_1", "seen")];
      const session = provider.open({ history: [said("user", "My name is Ada")] });
      const known = await hear(session, { type: "results", turn, results, texts: [RECOUNT] });
      for (const words of ["My name is Ada", "look", "seen"]) expect(known).toContain(words);
    });

    it("shows its agent the tools that are offered", async () => {
      const { provider } = await subject().start();
      expect(await hear(provider.open(), say(TOOLS))).not.toContain("telescope");
      const tools = [{ name: "telescope", description: "Looks far", schema: { type: "object" } }];
      expect(await hear(provider.open(), say(TOOLS), { tools })).toContain("telescope");
    });
  });
}

/** Or this, if its agent runs its tools itself. */
export function noCallsContract(name: string, subject: () => ContractSubject): void {
  describe(`the provider ${name}, whose agent has no tools here,`, () => {
    it("leaves no call to us, and refuses results", async () => {
      const { provider, turn, answer } = await askForCall(subject());
      expect(provider.injectionPoints).not.toContain("tool-results");
      expect(turn.toolCalls).toEqual([]);
      expect(await catchRejection(answer())).toMatchObject({ code: "invalid_option" });
    });

    it("refuses tools that are offered", async () => {
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
  const results = [toolSuccess("call_1", "seen")];
  const answer = (texts: readonly string[] = []): Promise<string> =>
    hear(session, { type: "results", turn, results, texts });
  return { provider, turn, answer };
}

function said(role: ModelMessage["role"], ...texts: readonly string[]): ModelMessage {
  return { role, blocks: texts.map((text) => ({ type: "text", text })) };
}

/** With ids that not every service takes, and a call that nobody answered. */
const HISTORY: readonly ModelMessage[] = [
  said("user", "My name is Ada"),
  {
    role: "assistant",
    blocks: [...said("assistant", "Nice to meet you").blocks, use("a.b:1", "searcher")],
  },
  {
    role: "user",
    blocks: [{ type: "tool-result", result: toolSuccess("a.b:1", "lost and found") }],
  },
  { role: "assistant", blocks: [use("a.b:2", "waster")] },
];

function use(id: string, name: string): TurnBlock {
  return {
    type: "tool-call",
    toolCall: createToolCall({ id, name, inputText: "{}", runBy: "client" }),
  };
}
