import { afterEach, describe, expect, it } from "vitest";
import { ApiError } from "../../src/http/routing/api-error.ts";
import { readJsonBody } from "../../src/http/routing/json-body.ts";
import { createJsonResponse } from "../../src/http/routing/json-response.ts";
import { formatOpenAiError } from "../../src/http/routing/openai-errors.ts";
import { duplicateWithPrefix, type RouteGroup } from "../../src/http/routing/router.ts";
import { formatPortalError } from "../../src/surfaces/portal/error-body.ts";
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
  formatError: formatPortalError,
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
        throw new ApiError(404, "not_found", "The response does not exist", {
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

describe("Routes", () => {
  it.each(["/v1/responses", "/responses"])("A route is served at %s [OR-69]", async (path) => {
    const server = await started();
    const answer = await server.call("POST", path, { headers: JSON_TYPE, body: '{"a":"é"}' });
    expect([answer.status, answer.json]).toEqual([200, { a: "é" }]);
    const deleted = await server.call("DELETE", `${path}/resp%5F1`);
    expect([deleted.status, deleted.json]).toEqual([200, { id: "resp_1" }]);
  });
});

describe("Errors", () => {
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
    ["an unknown path", get("/v1/none"), faulty(404, "unknown_url", "not_found")],
    ["a wrong method", get("/v1/responses"), faulty(405, "method_not_allowed")],
    ["a body that is too long", post("x".repeat(1001), json), faulty(413, "request_too_large")],
    ["a wrong content type", post("{}", "text/plain"), otherType],
    ["a missing content type", post("{}"), otherType],
    ["invalid JSON", post("{", json), notJson],
    ["a body that is not an object", post("[1]", json), notJson],
    ["a body that is not UTF-8", post(Buffer.from('{"a":"\xe9"}', "latin1"), json), notJson],
    ["a truncated UTF-8 character", post(Buffer.from('{"a":"é"}').subarray(0, 7), json), notJson],
    ["an unknown host", get("/v1/models", { host: "evil.example" }), faulty(403, "access_denied")],
    ["headers that are too long", get("/v1/models", longHeader), faulty(431, "headers_too_large")],
  ])(
    "The error for %s has OpenAI's form and a request id [OR-70] [OR-71]",
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
  ])("The error for %j names the setting that would allow it", async (headers, setting) => {
    const server = await started();
    const answer = await server.call("GET", "/v1/models", { headers });
    expect(answer.status).toBe(403);
    expect(answer.json).toMatchObject({ error: { message: expect.stringContaining(setting) } });
  });

  it("An unknown path gets the error form of the routes that it resembles [OR-70]", async () => {
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

  it("An error has the field, a hint and its headers", async () => {
    const server = await started();
    const { status, json, headers } = await server.call("GET", "/responses/x");
    expect([status, json, headers["x-should-retry"]]).toEqual([
      404,
      {
        error: {
          message: "The response does not exist. Look at its id",
          type: "not_found",
          param: "response_id",
          code: "response_not_found",
        },
      },
      "false",
    ]);
  });

  it("An internal error contains no details and is not to be retried [OR-46]", async () => {
    const server = await started();
    const { status, json, headers } = await server.call("GET", "/v1/models");
    expect([status, headers["x-should-retry"]]).toEqual([500, "false"]);
    expect(json).toMatchObject({ error: { type: "server_error", code: "service_failed" } });
    expect(JSON.stringify(json)).not.toContain("a bug");
    expect(server.bugs).toEqual([new TypeError("a bug")]);
  });

  it("A wrong method is answered with the allowed methods", async () => {
    const server = await started();
    const { headers } = await server.call("POST", "/responses/x");
    expect(headers["allow"]).toBe("DELETE, GET");
  });
});

describe("Request ids", () => {
  it.each([
    ["the client's own", "a-b_c.d:9", "a-b_c.d:9"],
    ["generated if the client's is too long", "x".repeat(129), "req_1"],
    ["generated if the client's has invalid characters", "a b", "req_1"],
    ["generated if the client's is empty", "", "req_1"],
  ])("The request id is %s [OR-70]", async (_, input, id) => {
    const server = await started();
    const { headers } = await server.call("GET", "/", { headers: { "x-request-id": input } });
    expect(headers["x-request-id"]).toBe(id);
  });

  it("A request that is not HTTP gets a response with a request id", async () => {
    const server = await started();
    const socket = await server.raw("NONSENSE\r\n\r\n");
    const output = Buffer.concat(await socket.toArray()).toString();
    expect(output).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(output).toContain("x-request-id: req_1\r\n");
    expect(output).toContain('"message":"The request is not valid HTTP"');
  });
});

describe("Slow requests", () => {
  const limits = { ...TEST_LIMITS, headerMs: 40, requestMs: 80 };

  it.each([
    ["in its headers", "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX-Slow: "],
    [
      "in its body",
      "POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
    ],
  ])("A request that is slow %s is refused, and its connection is closed", async (_, bytes) => {
    const server = await started({ limits });
    const socket = await server.raw(bytes);
    const output = Buffer.concat(await socket.toArray()).toString();
    expect(output).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(output).toContain("The request was not received completely within the time limit");
    expect(server.bugs).toEqual([]);
  });

  it("The refusal of a request is not sent as the response to the request before it", async () => {
    let answer: () => void = () => {};
    const responseGate = new Promise<void>((resolve) => (answer = resolve));
    const server = await served([
      {
        method: "GET",
        path: "/held",
        async handle() {
          await responseGate;
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

describe("Connection limits", () => {
  it("A connection over the limit gets its own status and code and is closed", async () => {
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

  it("A connection far over the limit is closed without a response", async () => {
    const server = await started({ limits: { ...TEST_LIMITS, connections: 1 } });
    const open = await Promise.all(Array.from({ length: 101 }, () => server.raw()));
    const last = await server.raw();
    expect(await last.toArray()).toEqual([]);
    for (const socket of open) socket.destroy();
  });
});
