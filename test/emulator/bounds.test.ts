import { describe, expect, it } from "vitest";
import type { InvocationSettings } from "../../src/emulator/brains/brain.ts";
import { createDemoBrain } from "../../src/emulator/brains/demo/demo-brain.ts";
import {
  MAX_FILLED_PROPERTIES,
  fillArguments,
} from "../../src/emulator/brains/demo/fill-arguments.ts";
import {
  readDemoPrompt,
  MAX_PROMPT_CHARACTERS,
} from "../../src/emulator/brains/demo/demo-prompt.ts";
import { answerFromMemory } from "../../src/emulator/brains/demo/answer-from-memory.ts";
import { createSmallTalk } from "../../src/emulator/brains/demo/small-talk.ts";
import type { Message } from "../../src/emulator/brains/session-message.ts";
import { RequestFields } from "../../src/emulator/control/request-fields.ts";
import { Constraints } from "../../src/emulator/service/constraints.ts";
import { ServiceError } from "../../src/emulator/service/service-types.ts";
import { createService } from "../../src/emulator/service/create-service.ts";
import { HARNESS_ARN, invoke, reasonsIn, running } from "./start-data-plane.ts";

const user = (text: string): Message => ({ role: "user", content: [{ text }] });
const filled = (properties: object, text: string, required: readonly string[] = []) =>
  fillArguments({ type: "object", properties, required } as never, readDemoPrompt(user(text)));
const SETTINGS = { tools: [], allowedTools: [] } as unknown as InvocationSettings;

describe("Bounds on prompts of the demo agent", () => {
  it("The demo agent reads only the beginning of a long prompt and does not split a character", () => {
    const long = "a ".repeat(MAX_PROMPT_CHARACTERS);
    expect(readDemoPrompt(user(`${long} what is my name?`)).text).toBe(
      long.slice(0, MAX_PROMPT_CHARACTERS),
    );
    const cut = `${"a".repeat(MAX_PROMPT_CHARACTERS - 1)}🙂`;
    expect(readDemoPrompt(user(cut)).text).toBe("a".repeat(MAX_PROMPT_CHARACTERS - 1));
    expect(answerFromMemory([user(`${long} what is my name?`)])).toBeNull();
    expect(answerFromMemory([user(`${long} my name is Ada`), user("what is my name?")])).toBe(
      "I do not know your name yet.",
    );
  });

  it.each([
    "what is ",
    "what ask ",
    "how many ",
    "i my ",
    "1",
    "1.",
    "1 ",
    "-",
    ".",
    "./",
    "“",
    "a",
    "a@",
    "no ",
    "please ",
  ])("The demo agent reads a prompt of repeated %j in linear time", { timeout: 20_000 }, (part) => {
    const text = part.repeat(100_000);
    const properties = Object.fromEntries(
      ["email", "path", "city", "query", "other", "title"].map((name) => [
        name,
        { type: "string" },
      ]),
    );
    answerFromMemory([user(text), user(text)]);
    createSmallTalk(readDemoPrompt(user(text)), SETTINGS);
    filled({ ...properties, no: { type: "boolean" } }, text, Object.keys(properties));
    expect(readDemoPrompt(user(text)).text.length).toBeLessThanOrEqual(MAX_PROMPT_CHARACTERS);
  });

  it("The demo agent still understands its prompts within the bounds", () => {
    const earlier = user("My name is Ada");
    expect(answerFromMemory([earlier, user("What's my name?")])).toBe("Your name is Ada.");
    expect(answerFromMemory([earlier, user("So what\nis my name")])).toBeNull();
    expect(answerFromMemory([earlier, user("How many messages?")])).toBe(
      "You have sent me 2 messages.",
    );
    expect(answerFromMemory([earlier, user("My name is not what it is")])).toBeNull();
    expect(createSmallTalk(readDemoPrompt(user("What is 12.5-2?")), SETTINGS)).toBe(
      "That is 10.5.",
    );
    const verbose = { verbose: { type: "boolean" } };
    expect(filled(verbose, "run it verbose")).toEqual({ verbose: true });
    expect(filled(verbose, "run it not too verbose")).toEqual({});
    expect(filled(verbose, "run it, no  Verbose")).toEqual({});
    expect(filled({ title: {}, path: {} }, "title: Lunch... in a/b.txt")).toEqual({
      title: "Lunch",
      path: "a/b.txt",
    });
    expect(filled({ query: {} }, "look for cats...")).toEqual({ query: "cats" });
  });
});

describe("Tool arguments that the demo agent fills", () => {
  it("The demo agent fills only the first properties of a schema, nested properties included", () => {
    const many = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, number) => [`p${number}`, { type: "boolean" }]),
    );
    expect(Object.keys(filled(many, "run", Object.keys(many)))).toHaveLength(MAX_FILLED_PROPERTIES);
    const inner = { type: "object", properties: many, required: Object.keys(many) };
    const twice = filled({ one: inner, two: inner }, "run");
    expect(Object.keys(twice)).toEqual(["one"]);
    expect(Object.keys(twice["one"] as object)).toHaveLength(MAX_FILLED_PROPERTIES - 1);
  });

  it("The demo agent fills required properties, and optional ones that the prompt mentions", () => {
    const read = {
      from_line: { type: "integer" },
      path: { type: "string" },
      encoding: { type: "string" },
      max_lines: { type: "integer" },
    };
    const promptText = 'read "notes.txt" for the meeting at 9';
    expect(filled(read, promptText, ["path"])).toEqual({ path: "notes.txt" });
    expect(filled(read, "read notes.txt, 20 lines, encoding: latin1", ["path"])).toEqual({
      path: "notes.txt",
      from_line: 20,
      encoding: "latin1",
    });
    const search = { in: { type: "string" }, folder: { type: "string" }, query: {} };
    expect(filled(search, "search src/a for cats", ["query"])).toEqual({
      query: "cats",
      folder: "src/a",
    });
  });

  it("The demo agent accepts enum values that have no string form", async () => {
    const odd = { toString: 1 };
    expect(filled({ a: { enum: [odd, [odd], "now"] } }, "now")).toEqual({ a: "now" });
    const inputSchema = { properties: { a: { enum: [odd] } }, required: ["a"] };
    const { client } = await running({
      brain: createDemoBrain({ delayMilliseconds: 0 }),
      harness: {
        tools: [
          {
            type: "inline_function",
            name: "run_it",
            config: { inlineFunction: { description: "runs", inputSchema } },
          },
        ] as never,
      },
    });
    expect(reasonsIn(await invoke(client, { text: "run it now" }))).toEqual(["tool_use"]);
  });
});

function thrownBy(act: () => void): ServiceError {
  try {
    act();
  } catch (error) {
    if (error instanceof ServiceError) return error;
  }
  throw new Error("It threw no error of the service");
}

describe("Validation errors of the emulator", () => {
  it("A validation error lists the first 20 violations, and validation stops there", () => {
    const constraints = new Constraints();
    let looked = 0;
    const { message, members } = thrownBy(() => {
      for (looked = 1; looked <= 32; looked += 1) {
        constraints.readText(`list.${looked}`, "x".repeat(100_000), { max: 5 });
      }
    });
    expect(looked).toBe(20);
    expect(message).toMatch(/^20 validation errors detected: Value at 'list\.1' .*'list\.20' /);
    expect(message).toMatch(/; the rest was not checked$/);
    expect(message.length).toBeLessThan(5000);
    expect(members["fieldList"]).toHaveLength(20);
  });

  it("Both planes limit validation errors in the same way", () => {
    const fields = new RequestFields({
      allowedTools: Array.from({ length: 32 }, () => 0),
      role: 0,
    });
    const { message, members } = thrownBy(() => fields.readTextList("allowedTools", {}));
    expect(message).toMatch(
      /^20 validation errors detected: Value '0' at 'allowedTools\.1\.member' failed to satisfy constraint: Member must be a string; /,
    );
    expect(members["fieldList"]).toHaveLength(20);
  });

  it("A list that is too long is reported by its length, and its entries are not validated", () => {
    const constraints = new Constraints();
    expect(
      constraints.readList(
        "entries",
        Array.from({ length: 10_000 }, () => 0),
      ),
    ).toHaveLength(10_000);
    expect(
      constraints.readList(
        "entries",
        Array.from({ length: 10_001 }, () => 0),
      ),
    ).toEqual([]);
    expect(thrownBy(() => constraints.throwIfInvalid()).message).toBe(
      "1 validation error detected: Value at 'entries' failed to satisfy constraint: Member must have length less than or equal to 10000",
    );
  });

  it.each(["/harnesses", `/harnesses/invoke?harnessArn=${encodeURIComponent(HARNESS_ARN)}`])(
    "A body with too many values is refused before it is parsed: POST %s",
    async (path) => {
      const { url } = await running();
      const answer = await fetch(url + path, {
        method: "POST",
        body: `{"messages":[${"{},".repeat(3_000_000)}{}]}`,
      });
      expect([answer.status, await answer.json()]).toEqual([
        400,
        {
          message: "The body cannot be read as JSON: it has more than 250000 values",
          reason: "CannotParse",
        },
      ]);
    },
  );

  it("Commas and brackets inside strings do not count as values", async () => {
    const { client } = await running();
    const text = `\\"${"[,{".repeat(200_000)}`;
    expect(reasonsIn(await invoke(client, { text }))).toEqual(["end_turn"]);
  });

  it("A long key is shortened in a validation error", () => {
    const fields = new RequestFields({ tags: { ["k".repeat(100_000)]: 0 } });
    fields.readTextMap("tags", { max: 50, name: {}, value: {} });
    const { message } = thrownBy(() => fields.throwIfInvalid());
    expect(message).toMatch(/^1 validation error detected: Value '0' at 'tags\.k+…' failed/);
    expect(message.length).toBeLessThan(1000);
  });

  it("An error without a JSON form is answered with a plain message", async () => {
    const bugs: unknown[] = [];
    const plain = createService({
      routes: [
        {
          method: "GET",
          path: "/",
          guard: () => {},
          handle: async () => {
            throw new ServiceError(400, "ValidationException", "no", { size: 1n });
          },
        },
      ],
      now: () => 0,
      createRequestId: () => "id",
      onBug: (error) => bugs.push(error),
    });
    const body = new Uint8Array();
    const request = { requestId: "", method: "GET", path: "/", query: "", headers: [], body };
    const answer = await plain.handle({
      ...request,
      disconnectSignal: new AbortController().signal,
    });
    expect(answer).toMatchObject({
      status: 400,
      headers: { "x-amzn-errortype": "ValidationException", "x-amzn-requestid": "id" },
    });
    expect(answer.body).toEqual(Buffer.from('{"message":"The error cannot be shown"}'));
    expect(bugs).toEqual([]);
  });
});
