import { afterEach, describe, expect, it } from "vitest";
import { ApiError } from "../../src/http/routing/api-error.ts";
import { readJsonBody } from "../../src/http/routing/json-body.ts";
import { createJsonResponse } from "../../src/http/routing/json-response.ts";
import { formatOpenAiError } from "../../src/http/routing/openai-errors.ts";
import { duplicateWithPrefix, type RouteGroup } from "../../src/http/routing/router.ts";
import { portalErrors } from "../../src/surfaces/portal/error-body.ts";
import { plain, served, TEST_LIMITS, type Served } from "./test-server.ts";

const open: Served[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

const portal: RouteGroup = {
  routes: [
    { method: "GET", path: "/", handle: async () => plain("page") },
    {
      method: "POST",
      path: "/api/things",
      handle: async (request) => createJsonResponse(200, readJsonBody(request)),
    },
  ],
  formatError: portalErrors,
};

const responses: RouteGroup = {
  routes: duplicateWithPrefix("/v1", [
    {
      method: "POST",
      path: "/responses",
      handle: async (request) => createJsonResponse(200, readJsonBody(request)),
    },
    {
      method: "DELETE",
      path: "/responses/:id",
      handle: async (_, { id }) => createJsonResponse(200, { id }),
    },
    {
      method: "GET",
      path: "/responses/:id",
      async handle() {
        throw new ApiError(404, "not_found", "There is no such response", {
          reason: "response_not_found",
          param: "response_id",
          hint: "Look at its id",
          headers: { "x-should-retry": "false" },
        });
      },
    },
    {
      method: "GET",
      path: "/models",
      async handle() {
        throw new TypeError("a bug");
      },
    },
  ]),
  formatError: formatOpenAiError,
};

async function started(options: Parameters<typeof served>[1] = {}): Promise<Served> {
  const server = await served([portal, responses], options);
  open.push(server);
  return server;
}

const JSON_TYPE = { "content-type": "application/json" };

describe("a route", () => {
  it.each(["/v1/responses", "/responses"])("answers at %s [OR-69]", async (path) => {
    const server = await started();
    const answer = await server.call("POST", path, { headers: JSON_TYPE, body: '{"a":"é"}' });
    expect([answer.status, answer.json]).toEqual([200, { a: "é" }]);
    const deleted = await server.call("DELETE", `${path}/resp%5F1`);
    expect([deleted.status, deleted.json]).toEqual([200, { id: "resp_1" }]);
  });
});

describe("an error", () => {
  const post = (body: string | Uint8Array, type?: string) => ({
    method: "POST",
    path: "/v1/responses",
    call: { body, ...(type !== undefined && { headers: { "content-type": type } }) },
  });
  const get = (path: string, headers = {}) => ({ method: "GET", path, call: { headers } });
  const faulty = (status: number, code: string, type = "invalid_request_error") => ({
    status,
    code,
    type,
  });
  const json = "application/json";
  const notJson = faulty(400, "invalid_json");
  const otherType = faulty(415, "unsupported_media_type");
  const longHeader = { "x-long": "x".repeat(20_000) };
  it.each([
    ["a path that is not there", get("/v1/none"), faulty(404, "unknown_url", "not_found")],
    ["another method", get("/v1/responses"), faulty(405, "method_not_allowed")],
    ["too long a body", post("x".repeat(1001), json), faulty(413, "request_too_large")],
    ["another content type", post("{}", "text/plain"), otherType],
    ["no content type", post("{}"), otherType],
    ["no JSON", post("{", json), notJson],
    ["no object", post("[1]", json), notJson],
    ["no UTF-8", post(Buffer.from('{"a":"\xe9"}', "latin1"), json), notJson],
    ["half a character", post(Buffer.from('{"a":"é"}').subarray(0, 7), json), notJson],
    ["another host", get("/v1/models", { host: "evil.example" }), faulty(403, "access_denied")],
    ["too long headers", get("/v1/models", longHeader), faulty(431, "headers_too_large")],
  ])(
    "for %s has OpenAI's form and an id [OR-70] [OR-71]",
    async (_, { method, path, call }, { status, ...error }) => {
      const server = await served([responses, portal]);
      open.push(server);
      const answer = await server.call(method, path, call);
      expect(answer.status).toBe(status);
      expect(answer.json).toEqual({
        error: { message: expect.stringMatching(/\w/), param: null, ...error },
      });
      expect(answer.headers["x-request-id"]).toBe("req_1");
      expect(server.bugs).toEqual([]);
    },
  );

  it.each([
    [{ host: "Team.Example:80" }, 'serve.allowedHosts: ["team.example"]'],
    [{ origin: "https://app.example" }, 'serve.allowedOrigins: ["https://app.example"]'],
  ])("for %j names the setting that would let it in", async (headers, setting) => {
    const server = await started();
    const answer = await server.call("GET", "/v1/models", { headers });
    expect(answer.status).toBe(403);
    expect(answer.json).toMatchObject({ error: { message: expect.stringContaining(setting) } });
  });

  it("has the form of the routes that its path is near to [OR-70]", async () => {
    const server = await started();
    const forms = await Promise.all(
      ["/api/none", "/none", "/v1", "/responses/a/b/c", "/models/x"].map(async (path) => [
        path,
        Object.keys(Object((await server.call("GET", path)).json).error),
      ]),
    );
    expect(forms).toEqual([
      ["/api/none", ["code", "message"]],
      ["/none", ["code", "message"]],
      ["/v1", ["message", "type", "param", "code"]],
      ["/responses/a/b/c", ["message", "type", "param", "code"]],
      ["/models/x", ["message", "type", "param", "code"]],
    ]);
  });

  it("says which field, what to do, and what its headers say", async () => {
    const server = await started();
    const { status, json, headers } = await server.call("GET", "/responses/x");
    expect([status, json, headers["x-should-retry"]]).toEqual([
      404,
      {
        error: {
          message: "There is no such response. Look at its id",
          type: "not_found",
          param: "response_id",
          code: "response_not_found",
        },
      },
      "false",
    ]);
  });

  it("of ours tells nothing, and is not tried again by itself [OR-46]", async () => {
    const server = await started();
    const { status, json, headers } = await server.call("GET", "/v1/models");
    expect([status, headers["x-should-retry"]]).toEqual([500, "false"]);
    expect(json).toMatchObject({ error: { type: "server_error", code: "service_failed" } });
    expect(JSON.stringify(json)).not.toContain("a bug");
    expect(server.bugs).toEqual([new TypeError("a bug")]);
  });

  it("names the methods that a path takes", async () => {
    const server = await started();
    const { headers } = await server.call("POST", "/responses/x");
    expect(headers["allow"]).toBe("DELETE, GET");
  });
});

describe("the id of a request", () => {
  it.each([
    ["the client's own", "a-b_c.d:9", "a-b_c.d:9"],
    ["ours for one that is too long", "x".repeat(129), "req_1"],
    ["ours for one with other characters", "a b", "req_1"],
    ["ours for an empty one", "", "req_1"],
  ])("is %s [OR-70]", async (_, given, id) => {
    const server = await started();
    const { headers } = await server.call("GET", "/", { headers: { "x-request-id": given } });
    expect(headers["x-request-id"]).toBe(id);
  });

  it("is on an answer to bytes that are no HTTP", async () => {
    const server = await started();
    const socket = await server.raw("NONSENSE\r\n\r\n");
    const said = Buffer.concat(await socket.toArray()).toString();
    expect(said).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(said).toContain("x-request-id: req_1\r\n");
    expect(said).toContain('"message":"The request is not valid HTTP"');
  });
});

describe("a request that comes slowly", () => {
  const limits = { ...TEST_LIMITS, headerMs: 40, requestMs: 80 };

  it.each([
    ["in its headers", "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX-Slow: "],
    [
      "in its body",
      "POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
    ],
  ])("%s is refused, and its connection ended", async (_, bytes) => {
    const server = await started({ limits });
    const socket = await server.raw(bytes);
    const said = Buffer.concat(await socket.toArray()).toString();
    expect(said).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(said).toContain("The request was not received completely within the time limit");
    expect(server.bugs).toEqual([]);
  });

  it("does not let its refusal be taken for the answer to the one before it", async () => {
    let answer: () => void = () => {};
    const held = new Promise<void>((resolve) => (answer = resolve));
    const server = await served([
      {
        method: "GET",
        path: "/held",
        async handle() {
          await held;
          return plain("held");
        },
      },
    ]);
    open.push(server);
    const socket = await server.raw(
      "GET /held HTTP/1.1\r\nHost: localhost\r\n\r\nNONSENSE\r\n\r\n",
    );
    expect(Buffer.concat(await socket.toArray()).toString()).toBe("");
    answer();
  });
});

describe("connections", () => {
  it("over the limit are told so with a status and a code of their own, and are closed", async () => {
    const server = await started({ limits: { ...TEST_LIMITS, connections: 1 } });
    const first = await server.raw();
    const { status, headers, json } = await server.call("GET", "/");
    expect([status, headers["retry-after"], headers.connection, json]).toEqual([
      503,
      "10",
      "close",
      {
        error: {
          message: "The bridge has reached its limit of open connections",
          code: "overloaded",
        },
      },
    ]);
    first.destroy();
  });

  it("far over the limit are closed", async () => {
    const server = await started({ limits: { ...TEST_LIMITS, connections: 1 } });
    const open = await Promise.all(Array.from({ length: 101 }, () => server.raw()));
    const last = await server.raw();
    expect(await last.toArray()).toEqual([]);
    for (const socket of open) socket.destroy();
  });
});
