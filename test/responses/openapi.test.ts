import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { createAccess } from "../../src/http/access/access.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createResponsesSurface } from "../../src/surfaces/responses/responses-surface.ts";
import { createOpenApiDocument } from "../../src/wire/responses/openapi/openapi-document.ts";
import { breaks, says } from "../support/session/scripted-provider.ts";
import { send, serveAnswers } from "./support/serve-answers.ts";

const document = createOpenApiDocument("1.2.3");
const { schemas } = document.components;
type SchemaName = keyof typeof schemas;

/** Validates a value against a schema of the document and returns the errors. */
function problems(name: SchemaName, value: unknown): unknown {
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema({ $id: "document", components: { schemas } });
  const validate = ajv.compile({ $ref: `document#/components/schemas/${name}` });
  return validate(value) ? [] : validate.errors;
}

/** Names of the fields in an object's schema. */
function fieldsOf(name: SchemaName): string[] {
  return Object.keys(schemas[name]["properties"] as object);
}

describe("The OpenAPI document", () => {
  it("The OpenAPI document has every route, with and without /v1, and no other [OR-69]", async () => {
    const served = await serveAnswers([says("Hello")]);
    const { routes } = createResponsesSurface({
      sessions: served.sessions,
      clock: systemClock,
      access: createAccess({ host: "127.0.0.1" }),
      report: () => {},
    });
    const there = routes.map(
      ({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`,
    );
    const described = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).flatMap((method) =>
        ["", "/v1"].map((prefix) => `${method.toUpperCase()} ${prefix}${path}`),
      ),
    );
    expect(described.toSorted()).toEqual(there.toSorted());
  });

  it("The OpenAPI document is served at /openapi.json", async () => {
    const served = await serveAnswers([says("Hello")]);
    const { json } = await send(served, ["GET", "/openapi.json"]);
    expect({ ...json, info: {} }).toEqual({ ...JSON.parse(JSON.stringify(document)), info: {} });
  });

  it("The schema of a response requires every field which the specification requires [OR-1]", () => {
    const file = new URL("open-responses.schema.json", import.meta.url);
    const { ResponseResource } = JSON.parse(readFileSync(file, "utf8")).$defs;
    expect(ResponseResource.required).toHaveLength(31);
    expect(schemas.Response["required"]).toEqual(expect.arrayContaining(ResponseResource.required));
  });

  it("The schema of a request names exactly the fields that are read [OR-63]", async () => {
    const served = await serveAnswers([says("Hello")]);
    const all = Object.fromEntries(fieldsOf("CreateResponse").map((name) => [name, null]));
    const body = { ...all, input: "Hi", unheard_of: 1 };
    const { status, headers } = await send(served, ["POST", "/responses"], { body });
    expect([status, headers.get("x-spanline-ignored")]).toEqual([200, "unheard_of"]);
    const messages = [{ role: "user", content: "Hi" }];
    const values = { stream_options: {}, max_tokens: 5, max_completion_tokens: 5, user: "u", n: 1 };
    const exampleBody = {
      metadata: {},
      tools: [],
      tool_choice: "auto",
      stream: false,
      model: "scripted",
    };
    const chat = { messages, ...values, ...exampleBody, session_id: "" };
    expect(Object.keys(chat).toSorted()).toEqual(fieldsOf("CreateCompletion").toSorted());
    const answer = await send(served, ["POST", "/chat/completions"], { body: chat });
    expect([answer.status, answer.headers.get("x-spanline-ignored")]).toEqual([200, null]);
  });

  it("Actual responses match the schemas of the OpenAPI document", async () => {
    const served = await serveAnswers([
      says("Hello"),
      says("Hello"),
      says("Hello"),
      breaks("service_failed"),
    ]);
    const messages = [{ role: "user", content: "Hi" }];
    const response = await send(served, ["POST", "/responses"], { body: { input: "Hi" } });
    const { id, session_id } = response.json;
    const chat = ["POST", "/chat/completions"] as const;
    const completion = await send(served, chat, { body: { messages } });
    const inference = await send(served, ["POST", "/inference"], { body: { messages } });
    const broken = await send(served, chat, { body: { messages } });
    const items = await send(served, ["GET", `/conversations/${session_id}/items`]);
    const [{ id: item }] = items.json.data;
    const compacted = { model: "scripted", input: "Hi" };
    const answers: [SchemaName, { readonly json: unknown }][] = [
      ["Response", response],
      ["Response", await send(served, ["GET", `/responses/${id}`])],
      ["ItemList", await send(served, ["GET", `/responses/${id}/input_items`])],
      ["Error", await send(served, ["POST", `/responses/${id}/cancel`])],
      ["DeletedResponse", await send(served, ["DELETE", `/responses/${id}`])],
      ["Compaction", await send(served, ["POST", "/responses/compact"], { body: compacted })],
      ["Completion", completion],
      ["Error", broken],
      ["Inference", inference],
      ["Conversation", await send(served, ["POST", "/conversations"], { body: {} })],
      ["Conversation", await send(served, ["GET", `/conversations/${session_id}`])],
      ["ItemList", items],
      ["Item", { json: items.json.data[0] }],
      ["Error", await send(served, ["GET", `/conversations/${session_id}/items/${item}0`])],
      ["DeletedConversation", await send(served, ["DELETE", `/conversations/${session_id}`])],
      ["ModelList", await send(served, ["GET", "/models"])],
      ["Model", await send(served, ["GET", "/models/scripted"])],
      ["Document", await send(served, ["GET", "/openapi.json"])],
    ];
    expect(answers.map(([name, { json }]) => [name, problems(name, json)])).toEqual(
      answers.map(([name]) => [name, []]),
    );
  });
});
