import { afterEach, describe, expect, it } from "vitest";
import { plain, served, type Served } from "./test-server.ts";

const ORIGIN = "https://app.example";
const open: Served[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function started(allowedOrigins?: readonly string[]): Promise<Served> {
  const routes = [
    { method: "POST" as const, path: "/v1/responses", handle: async () => plain("ok") },
  ];
  const server = await served(routes, allowedOrigins === undefined ? {} : { allowedOrigins });
  open.push(server);
  return server;
}

function shared(headers: { readonly [name: string]: unknown }): { [name: string]: unknown } {
  const names = Object.keys(headers).filter((name) => /^(?:access-control-|vary)/.test(name));
  return Object.fromEntries(names.map((name) => [name, headers[name]]));
}

const preflight = {
  origin: ORIGIN,
  "access-control-request-method": "POST",
  "access-control-request-headers": "authorization,content-type,x-stainless-os,bad name",
};

describe("Pages of other origins", () => {
  it("A preflight request of an allowed origin is answered [OR-69]", async () => {
    const server = await started([ORIGIN]);
    const answer = await server.call("OPTIONS", "/v1/responses", { headers: preflight });
    expect([answer.status, answer.text, answer.headers["content-length"]]).toEqual([
      204,
      "",
      undefined,
    ]);
    expect(shared(answer.headers)).toEqual({
      vary: "Origin",
      "access-control-allow-origin": ORIGIN,
      "access-control-expose-headers": "*",
      "access-control-allow-methods": "GET, HEAD, POST, DELETE",
      "access-control-allow-headers": "authorization, content-type, x-stainless-os",
      "access-control-max-age": "600",
    });
  });

  it("An allowed origin can read responses and errors", async () => {
    const server = await started([ORIGIN]);
    const headers = { origin: ORIGIN };
    for (const path of ["/v1/responses", "/v1/none"]) {
      const answer = await server.call("POST", path, { headers });
      expect(shared(answer.headers)).toEqual({
        vary: "Origin",
        "access-control-allow-origin": ORIGIN,
        "access-control-expose-headers": "*",
      });
    }
  });

  it.each([
    [undefined, ORIGIN],
    [[], ORIGIN],
    [[ORIGIN], "https://app.example.evil"],
    [[ORIGIN], "http://app.example"],
    [[ORIGIN], "https://app.example:8443"],
    [[ORIGIN], "null"],
  ])("With the allowed origins %j, the origin %s is refused", async (allowed, origin) => {
    const server = await started(allowed);
    const requestHeaders = { ...preflight, origin };
    for (const method of ["OPTIONS", "POST"]) {
      const answer = await server.call(method, "/v1/responses", { headers: requestHeaders });
      expect(answer.status).toBe(403);
      expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
    }
  });

  it("A request without an origin gets no CORS headers", async () => {
    const server = await started();
    expect(shared((await server.call("POST", "/v1/responses")).headers)).toEqual({});
  });
});
