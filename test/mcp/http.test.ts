import { randomUUID } from "node:crypto";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { HttpServerSettings } from "../../src/tools/mcp/mcp-server-settings.ts";
import { eventually } from "../support/eventually.ts";
import { openMcpWorld, type McpWorld } from "../support/server/mcp-world.ts";
import { startPeer, type PeerResponder } from "../support/server/scripted-peer.ts";

const namesOf = (world: McpWorld) => world.tools().map(({ spec }) => spec.name);

async function failureAt(
  answer: PeerResponder,
  more: Partial<HttpServerSettings> = {},
): Promise<string> {
  const { url } = await startPeer(answer);
  const settings = { type: "http", name: "s", url: `${url}/mcp?key=secret`, ...more } as const;
  const world = await openMcpWorld([settings]);
  expect(world.tools()).toEqual([]);
  const message = world.reports.map((report) => report.message).join();
  expect(message).not.toContain("secret");
  return message.replace(url, "URL");
}

/** Responds to JSON-RPC requests like a well-behaved server, except for the given methods. */
function speaking(results: { readonly [method: string]: (id: number) => string }): PeerResponder {
  return (response, { method, body }) => {
    if (method !== "POST") return void response.writeHead(405).end();
    const { id, method: requestMethod } = JSON.parse(body.toString());
    if (id === undefined) return void response.writeHead(202).end();
    const hello = {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "s", version: "1" },
    };
    const tools = [{ name: "t", inputSchema: { type: "object" } }];
    const result = requestMethod === "initialize" ? hello : { tools };
    const scriptedResult = results[requestMethod]?.(id);
    const type =
      scriptedResult?.startsWith("data:") === true ? "text/event-stream" : "application/json";
    response.writeHead(200, { "content-type": type });
    response.end(scriptedResult ?? JSON.stringify({ jsonrpc: "2.0", id, result }));
  };
}

describe("Failures of servers over HTTP", () => {
  it.each([401, 403])("Status %d is reported as a missing or wrong token", async (status) => {
    expect(await failureAt((response) => void response.writeHead(status).end("No"))).toBe(
      `The MCP server s requires authentication (HTTP ${status} from URL/mcp). Fix: set a token in headers, such as Authorization`,
    );
  });

  it.each([404, 500])("Status %d is reported with the response body", async (status) => {
    expect(await failureAt((response) => void response.writeHead(status).end("Out\u0007"))).toBe(
      `The MCP server s returned HTTP ${status} at URL/mcp: Error POSTing to endpoint: Out`,
    );
  });

  it("A secret that the server quotes is redacted, also if it is cut", async () => {
    const quoting: PeerResponder = (response, { headers }) =>
      void response.writeHead(500).end(`${"x".repeat(455)} ${String(headers["authorization"])}`);
    const headers = { Authorization: "Bearer abcdefghijklmnopqrstuvwxyz" };
    const message = await failureAt(quoting, { headers });
    expect(message).toContain("xxx [redacted]");
    expect(message).not.toMatch(/Bearer|abcdef/);
  });

  it("An HTML page is reported by its content type", async () => {
    const page: PeerResponder = (response) =>
      void response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome</h1>");
    expect(await failureAt(page)).toContain("Unexpected content type: text/html");
  });

  it("An endless response is reported as too large", async () => {
    const endless: PeerResponder = (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const more = (): void => {
        if (response.writable) response.write("[".repeat(100_000), more);
      };
      more();
    };
    expect(await failureAt(endless)).toContain("sent a message of more than 10485760 bytes");
  });

  it("A redirect and a refused connection are reported", async () => {
    const away: PeerResponder = (response) =>
      void response.writeHead(307, { location: "http://127.0.0.1:1/else?a=b" }).end();
    expect(await failureAt(away)).toContain("Redirect to http://127.0.0.1:1/else not followed");
    const { url, http } = await sdkServer();
    http.close();
    const world = await openMcpWorld([{ type: "http", name: "s", url }]);
    expect(world.reports[0]?.message).toBe(
      `The MCP server s cannot be reached at ${url}: ECONNREFUSED`,
    );
  });

  it("A token that the server quotes is redacted", async () => {
    const quoting: PeerResponder = (response, { headers }) =>
      void response.writeHead(400).end(`What is ${headers.authorization}?`);
    const headers = { Authorization: "Bearer token-secret" };
    expect(await failureAt(quoting, { headers })).toContain("What is [redacted]?");
  });

  it("A missing token is reported for the older SSE transport", async () => {
    const no: PeerResponder = (response) => void response.writeHead(401).end();
    expect(await failureAt(no, { type: "sse" })).toContain("requires authentication (HTTP 401");
  });
});

describe("Tool calls over HTTP", () => {
  it("Requests have the configured headers", async () => {
    const peer = await startPeer(speaking({}));
    const headers = { Authorization: "Bearer secret" };
    const world = await openMcpWorld([{ type: "http", name: "s", url: peer.url, headers }]);
    expect(namesOf(world)).toEqual(["s__t"]);
    const sent = peer.requests.map((request) => request.headers.authorization);
    expect(new Set(sent)).toEqual(new Set(["Bearer secret"]));
  });

  it("A response that breaks off fails the tool call", async () => {
    const peer = await startPeer(speaking({ "tools/call": () => "data: {\n\n" }));
    const world = await openMcpWorld([{ type: "http", name: "s", url: peer.url }]);
    await expect(world.callTool("s__t")).rejects.toThrow(
      "closed the connection before it responded",
    );
  });

  it.each([
    ["as JSON", (id: number) => `{"jsonrpc":"2.0","id":${id},"result":"${"x".repeat(11e6)}"}`],
    ["as one event", (id: number) => `data: {"id":${id}}\ndata: ${"x".repeat(11e6)}\n\n`],
  ])("A response that is too large fails the tool call: %s", async (_, answer) => {
    const peer = await startPeer(speaking({ "tools/call": answer }));
    const world = await openMcpWorld([{ type: "http", name: "s", url: peer.url }]);
    await expect(world.callTool("s__t")).rejects.toThrow(
      /more than 10485760 bytes|closed the connection/,
    );
    expect(world.status()).toMatchObject([{ state: "connected" }]);
  });

  it("A deeply nested result fails only its own tool call", async () => {
    const deep = `${'{"a":['.repeat(100_000)}${"]}".repeat(100_000)}`;
    const answer = (id: number): string =>
      `{"jsonrpc":"2.0","id":${id},"result":{"structuredContent":${deep}}}`;
    const schema = (id: number): string =>
      `{"jsonrpc":"2.0","id":${id},"result":{"tools":[{"name":"deep","inputSchema":${deep}},{"name":"t","inputSchema":{}}]}}`;
    const peer = await startPeer(speaking({ "tools/call": answer, "tools/list": schema }));
    const world = await openMcpWorld([{ type: "http", name: "s", url: peer.url }]);
    expect(namesOf(world)).toEqual(["s__t"]);
    expect(JSON.stringify(await world.callTool("s__t"))).toContain("nested deeper than 200 levels");
  });

  it("The connection of a finished tool call is closed", async () => {
    const endless = new Set<ServerResponse>();
    const answer = speaking({});
    const peer = await startPeer((response, request) => {
      const { id, method, params } = JSON.parse(request.body.toString() || "{}");
      if (method !== "tools/call") return answer(response, request);
      endless.add(response);
      response.on("close", () => endless.delete(response));
      response.writeHead(200, { "content-type": "text/event-stream" });
      const result = { content: [{ type: "text", text: "done" }] };
      const isAnswered = params.arguments.answer === true;
      const event = `data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`;
      response.write(isAnswered ? event : ": wait\n\n");
    });
    const world = await openMcpWorld([{ type: "http", name: "s", url: peer.url }]);
    expect(await world.callTool("s__t", { answer: true })).toBe("done");
    expect(endless.size).toBe(1);
    world.clock.advance(5000);
    await eventually(() => expect(endless.size).toBe(0));
    const controller = new AbortController();
    const running = world.callTool("s__t", {}, { signal: controller.signal });
    await eventually(() => expect(endless.size).toBe(1));
    controller.abort(new Error("Enough"));
    await expect(running).rejects.toThrow("Enough");
    await eventually(() => expect(endless.size).toBe(0));
    await eventually(() => {
      const requestMethods = peer.requests.map(
        ({ body }) => JSON.parse(body.toString() || "{}").method,
      );
      expect(requestMethods.filter((method) => method === "notifications/cancelled")).toHaveLength(
        1,
      );
    });
  });

  it("Many events are accepted if each is within the limit", async () => {
    const logged = `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"${"x".repeat(1e6)}"}}\n\n`;
    const answer = (id: number): string =>
      `${logged.repeat(12)}data: {"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"done"}]}}\n\n`;
    const peer = await startPeer(speaking({ "tools/call": answer }));
    const world = await openMcpWorld([{ type: "http", name: "s", url: peer.url }]);
    expect(await world.callTool("s__t")).toBe("done");
  });
});

interface Sdk {
  readonly url: string;
  readonly server: McpServer;
  readonly http: Server;
  readonly streams: () => number;
}

/** A server of the official SDK in this process, whose tools the test can change. */
async function sdkServer(port = 0): Promise<Sdk> {
  const server = new McpServer({ name: "live", version: "1" });
  const add = (name: string): void => {
    server.registerTool(name, { description: name }, () => ({
      content: [{ type: "text", text: name }],
    }));
  };
  add("first");
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID() });
  await server.connect(transport);
  let streams = 0;
  const http = createServer((request, response) => {
    if (request.method === "GET") {
      streams += 1;
      response.on("close", () => (streams -= 1));
    }
    void transport.handleRequest(request, response);
  });
  await new Promise<void>((resolve) => {
    http.listen(port, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  const { port: serverPort } = http.address() as AddressInfo;
  return { url: `http://127.0.0.1:${serverPort}/`, server, http, streams: () => streams };
}

describe("Long-lived servers over HTTP", () => {
  it("Added and removed tools are noticed", async () => {
    const { url, server, streams } = await sdkServer();
    const world = await openMcpWorld([{ type: "http", name: "s", url }]);
    expect(namesOf(world)).toEqual(["s__first"]);
    await eventually(() => expect(streams()).toBe(1));
    const second = server.registerTool("second", {}, () => ({ content: [] }));
    await eventually(() => expect(namesOf(world)).toEqual(["s__first", "s__second"]));
    expect(world.changeCount).toBe(1);
    second.remove();
    await eventually(() => expect(world.clock.pending).toBe(1));
    world.clock.advance(1000);
    await eventually(() => expect(namesOf(world)).toEqual(["s__first"]));
    expect(world.changeCount).toBe(2);
  });

  it("A broken event stream is reopened, and a server that does not answer is reported", async () => {
    const { url, http, streams } = await sdkServer();
    const world = await openMcpWorld([{ type: "http", name: "s", url }]);
    await eventually(() => expect(streams()).toBe(1));
    http.closeAllConnections();
    await eventually(() => expect([streams(), world.clock.pending]).toEqual([0, 1]));
    world.clock.advance(1000);
    await eventually(() => expect(streams()).toBe(1));
    expect(world.status()).toMatchObject([{ state: "connected" }]);
    http.close();
    http.closeAllConnections();
    await eventually(() => expect(world.clock.pending).toBe(1));
    world.clock.advance(1000);
    await eventually(() => expect(world.status()).toMatchObject([{ state: "waiting" }]));
    expect(world.reports.map(({ message }) => message)).toEqual([
      "The MCP server s no longer responds",
    ]);
  });

  it("The server is notified when the session ends", async () => {
    const { url, server } = await sdkServer();
    const world = await openMcpWorld([{ type: "http", name: "s", url }]);
    const closed = vi.fn<() => void>();
    Object.assign(server.server, { onclose: closed });
    await world.close();
    expect(closed).toHaveBeenCalledOnce();
    expect(world.clock.pending).toBe(0);
  });
});
