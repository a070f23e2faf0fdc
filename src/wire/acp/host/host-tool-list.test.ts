import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatSortedJson } from "../../../../test/support/sorted-json.ts";
import type { JsonValue } from "../../../data/json.ts";
import {
  encodeHostCallRequest,
  encodeToolCallRequest,
  encodeToolListRequest,
} from "./host-request.ts";
import {
  HOST_TOOL_LIMITS,
  readToolList,
  readToolResult,
  encodeToolList,
} from "./host-tool-list.ts";

/** The example from the bridge documentation. */
const TOOLS = [
  {
    name: "Read",
    description: "Read a file from the active workspace",
    schema: {
      type: "object",
      properties: { path: { type: "string", description: "File path to read" } },
      required: ["path"],
    },
    deprecated: false,
  },
  {
    name: "open_file",
    description: "Reveal a file in the editor",
    schema: {
      type: "object",
      properties: { path: { type: "string" } },
      required: ["path"],
    },
    deprecated: true,
  },
];

function listed(result: JsonValue): unknown {
  const answer = readToolList({ ok: true, result });
  return answer.type === "answered" ? answer.value.tools : answer;
}

function problemWith(result: JsonValue): string {
  const answer = readToolList({ ok: true, result });
  return answer.type === "failed" ? answer.failure.message : answer.type;
}

const named = (name: string) => ({ name, description: "", schema: null, deprecated: false });

describe("Requests to a host", () => {
  it("The tool list request has no params [B-227]", () => {
    expect(encodeToolListRequest()).toEqual({ method: "host/tools/list", params: {} });
  });

  it("A tool call request has its arguments as the only list item [B-237]", () => {
    expect(encodeToolCallRequest("open_file", { path: "a.ts" })).toEqual({
      method: "builtin_call",
      params: { name: "open_file", args: [{ path: "a.ts" }] },
    });
  });

  it("A host operation can be sent under both method names [B-239]", () => {
    const params = { name: "process.list_shells", args: {} };
    expect(encodeHostCallRequest("process.list_shells", {})).toEqual({
      method: "host/call",
      params,
    });
    expect(encodeHostCallRequest("process.list_shells", {}, "host_call")).toEqual({
      method: "host_call",
      params,
    });
  });
});

describe("Tools of a host", () => {
  it("The documented shape is read and written key for key [B-228] [B-236]", () => {
    expect(formatSortedJson(listed({ tools: TOOLS }))).toBe(formatSortedJson(TOOLS));
    expect(formatSortedJson(encodeToolList(TOOLS))).toBe(formatSortedJson({ tools: TOOLS }));
  });

  it("A bare list is read [B-229] [B-236]", () => {
    expect(formatSortedJson(listed(TOOLS))).toBe(formatSortedJson(TOOLS));
    expect(listed([])).toEqual([]);
  });

  it("A wrapped list is read [B-230] [B-236]", () => {
    expect(formatSortedJson(listed({ result: { tools: TOOLS } }))).toBe(formatSortedJson(TOOLS));
  });

  it("A short description is read if there is no description [B-231]", () => {
    expect(listed([{ name: "a", short_description: "short" }])).toMatchObject([
      { description: "short" },
    ]);
    expect(listed([{ name: "a", short_description: "short", description: "long" }])).toMatchObject([
      { description: "long" },
    ]);
  });

  it.each(["parameters [B-232]", "input_schema [B-233]"])("The schema may be named %s", (title) => {
    const key = title.split(" ")[0] ?? "";
    const schema = { type: "object", properties: {} };
    expect(listed([{ name: "a", [key]: schema }])).toMatchObject([{ schema }]);
    expect(listed([{ name: "a", [key]: {}, schema }])).toMatchObject([{ schema }]);
  });

  it("A tool has exactly four keys [B-234]", () => {
    const toolEntry = { name: "a", icon: "x", short_description: "b", parameters: {}, _meta: {} };
    expect(formatSortedJson(listed([toolEntry]))).toBe(
      formatSortedJson([{ name: "a", description: "b", schema: {}, deprecated: false }]),
    );
  });

  it("A tool needs only a name [B-235]", () => {
    expect(listed([{ name: "a" }])).toEqual([
      { name: "a", description: "", schema: null, deprecated: false },
    ]);
    expect(listed([{ name: "a", description: 1, schema: null, deprecated: "yes" }])).toEqual([
      { name: "a", description: "", schema: null, deprecated: false },
    ]);
  });

  it.each<[string, JsonValue, string]>([
    ["without a name", { description: "b" }, "it has no name"],
    ["with an empty name", { name: " " }, "it has no name"],
    ["whose name is not a string", { name: 7 }, "it has no name"],
    ["that is not an object", "Read", "it is not an object"],
    ["with the name of another", { name: "a", deprecated: true }, 'it has the duplicate name "a"'],
    [
      "whose schema is not an object",
      { name: "b", schema: "x" },
      'it ("b") has a schema that is "x": expected an object',
    ],
    [
      "with too long a name",
      { name: "a".repeat(HOST_TOOL_LIMITS.nameCharacters + 1) },
      "it has a name of more than 256 characters",
    ],
    [
      "whose schema is too deep",
      { name: "b", schema: nested(HOST_TOOL_LIMITS.schemaDepth + 1) },
      'it ("b") has a schema of more than 64 levels',
    ],
  ])("A tool %s does not affect the other tools of its list [B-235]", (_, input, problem) => {
    const result = { tools: [{ name: "a" }, input, { name: "c" }] };
    expect(readToolList({ ok: true, result })).toEqual({
      type: "answered",
      value: {
        tools: [named("a"), named("c")],
        problems: [
          {
            code: "invalid_tool",
            message: `Tool 1 of host/tools/list cannot be used: ${problem}`,
            details: {},
          },
        ],
      },
    });
  });

  it("Problems are counted after the first 16", () => {
    const answer = readToolList({ ok: true, result: Array.from({ length: 20 }, () => ({})) });
    const { problems } = answer.type === "answered" ? answer.value : { problems: [] };
    expect(problems.map(({ message }) => message).slice(15)).toEqual([
      "Tool 15 of host/tools/list cannot be used: it has no name",
      "4 more tools of host/tools/list cannot be used",
    ]);
  });

  it("A tool from an MCP server names the server [B-085]", () => {
    const tools = ["linear", "", 7, "x".repeat(HOST_TOOL_LIMITS.nameCharacters + 1)].map(
      (_mcp_server, at) => ({ name: `tool${at}`, _mcp_server }),
    );
    expect(listed({ tools })).toEqual([
      { ...named("tool0"), mcpServer: "linear" },
      named("tool1"),
      named("tool2"),
      named("tool3"),
    ]);
    expect(encodeToolList([{ ...named("search"), mcpServer: "linear" }, named("open")])).toEqual({
      tools: [{ ...named("search"), _mcp_server: "linear" }, named("open")],
    });
  });

  it("A list with too many tools or characters is rejected", () => {
    const { tools, characters } = HOST_TOOL_LIMITS;
    const many = Array.from({ length: tools + 1 }, (_, index) => ({ name: `tool${index}` }));
    expect(problemWith(many)).toContain("it has 513 tools, more than 512");
    expect(listed(many.slice(1))).toHaveLength(tools);
    const half = "x".repeat(characters / 2);
    expect(problemWith([{ name: "a", description: half }])).toBe("answered");
    expect(
      problemWith([
        { name: "a", description: half },
        { name: "b", schema: { description: half } },
      ]),
    ).toContain("it has more than 1048576 characters");
  });

  it("A reply without a list is rejected", () => {
    for (const toolList of [
      {},
      "tools",
      3,
      true,
      { tools: {} },
      { result: {} },
      { result: { x: [] } },
    ]) {
      expect(readToolList({ ok: true, result: toolList })).toEqual({
        type: "failed",
        failure: {
          code: "unexpected_answer",
          message: "The host's reply to host/tools/list cannot be read: it has no list of tools",
          details: { operation: "host/tools/list" },
        },
      });
    }
  });

  it("A host without the method has no tools", () => {
    const error = { code: -32601, message: "Method not found" };
    expect(readToolList({ ok: false, error })).toEqual({ type: "unsupported" });
    expect(readToolList({ ok: true, result: null })).toEqual({ type: "unsupported" });
  });

  it("The tools are the same in every shape, whatever their names", () => {
    const tool = fc.record({
      name: fc.oneof(fc.constantFrom("__proto__", "constructor"), fc.string({ minLength: 1 })),
      description: fc.string(),
      schema: fc.constantFrom(null, {}, JSON.parse('{"__proto__":{"type":"object"}}')),
      deprecated: fc.boolean(),
    });
    const tools = fc.uniqueArray(
      tool.filter(({ name }) => name.trim() !== ""),
      { selector: ({ name }) => name },
    );
    fc.assert(
      fc.property(tools, (input) => {
        for (const shape of [input, { tools: input }, { result: { tools: input } }]) {
          expect(formatSortedJson(listed(shape))).toBe(formatSortedJson(input));
        }
      }),
    );
  });

  it("Any JSON value is read without an exception", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (input) => {
        const result: JsonValue = JSON.parse(JSON.stringify(input));
        expect(["answered", "failed", "unsupported"]).toContain(
          readToolList({ ok: true, result }).type,
        );
      }),
    );
  });
});

describe("Result of a host tool", () => {
  it("Any JSON value is a result [B-237]", () => {
    for (const value of [null, 0, "", "text", [1], { result: 1 }, { tools: [] }]) {
      expect(readToolResult("a", { ok: true, result: value })).toEqual({ type: "answered", value });
    }
  });

  it("An error of the host is a failure, also if the tool does not exist [B-237]", () => {
    const error = { code: -32601, message: "No builtin open_file", data: { secret: 1 } };
    expect(readToolResult("open_file", { ok: false, error })).toEqual({
      type: "failed",
      failure: {
        code: "host_failed",
        message: "open_file failed on the host: No builtin open_file",
        details: { operation: "open_file", hostCode: -32601 },
      },
    });
  });

  it("The text of an error is limited", () => {
    const error = { code: 1, message: "x".repeat(100_000) };
    const answer = readToolResult("a", { ok: false, error });
    expect(answer.type === "failed" && answer.failure.message.length).toBeLessThan(5000);
  });
});

function nested(levels: number): JsonValue {
  let value: JsonValue = {};
  for (let level = 0; level < levels; level++) value = { properties: value };
  return value;
}
