import { describe, expect, it } from "vitest";
import type { ToolContext } from "../../src/tools/tool.ts";
import { resolveExampleProgram, startExampleServer } from "../support/mcp-example.ts";
import { eventually } from "../support/eventually.ts";
import { openMcpWorld, type McpWorld } from "../support/server/mcp-world.ts";

const namesOf = (world: McpWorld) => world.tools().map(({ spec }) => spec.name);

describe("Servers of the official SDK over standard input and output [ACP-44]", () => {
  it("Structured content that matches its schema is returned", async () => {
    const world = await openMcpWorld([
      { ...resolveExampleProgram("mcpServerOutputSchema"), name: "weather" },
    ]);
    const tool = world.findTool("weather__get_weather");
    expect(tool.check({ city: "Bergen" })).toBe(
      "the arguments must have required property 'country'",
    );
    const toolResult = await world.callTool("weather__get_weather", {
      city: "Bergen",
      country: "NO",
    });
    expect(JSON.parse(String(toolResult))).toMatchObject({
      wind: { direction: expect.any(String) },
    });
    expect(world.reports).toEqual([]);
  });

  it("Progress is reported, and a tool call can be cancelled", async () => {
    const world = await openMcpWorld([resolveExampleProgram("progressExample")]);
    const serverNotes: string[] = [];
    const amounts: unknown[] = [];
    const progress: ToolContext["progress"] = (text, amount) => {
      serverNotes.push(text);
      amounts.push(amount);
    };
    expect(await world.callTool("progressExample__count", { n: 2 }, { progress })).toBe(
      "Counted to 2",
    );
    expect(serverNotes).toEqual(["Counting: 1/2", "Counting: 2/2"]);
    expect(amounts).toEqual([
      { progress: 1, total: 2 },
      { progress: 2, total: 2 },
    ]);
    const controller = new AbortController();
    const { signal } = controller;
    const running = world.callTool("progressExample__count", { n: 100 }, { progress, signal });
    await eventually(() => expect(serverNotes).toContain("Counting: 1/100"));
    controller.abort(new Error("Enough"));
    await expect(running).rejects.toThrow("Enough");
  });

  it("A sampling request of a server is refused", async () => {
    const world = await openMcpWorld([resolveExampleProgram("toolWithSampleServer")]);
    await expect(
      world.callTool("toolWithSampleServer__summarize", { text: "Long" }),
    ).rejects.toThrow("Method not found");
    expect(world.reports.map(({ message }) => message)).toEqual([
      "The MCP server toolWithSampleServer writes lines to its standard output that are not messages, such as: MCP server is running.... These lines are ignored",
    ]);
  });

  it("Each session has its own servers [ACP-46]", async () => {
    const one = await openMcpWorld([resolveExampleProgram("progressExample")]);
    const other = await openMcpWorld([]);
    expect([namesOf(one), namesOf(other)]).toEqual([["progressExample__count"], []]);
  });
});

describe("Servers of the official SDK over HTTP [ACP-45]", () => {
  it.each(["jsonResponseStreamableHttp", "simpleStreamableHttp"])(
    "A server over HTTP answers: %s",
    async (name) => {
      const { url } = await startExampleServer(name);
      const world = await openMcpWorld([{ type: "http", name: "s", url }]);
      expect(await world.callTool("s__greet", { name: "Ada" })).toBe("Hello, Ada!");
      expect(world.status()).toMatchObject([{ state: "connected" }]);
    },
  );

  it("A stateless server answers", async () => {
    const { url } = await startExampleServer("simpleStatelessStreamableHttp");
    const world = await openMcpWorld([{ type: "http", name: "s", url }]);
    const input = { interval: 1, count: 2 };
    expect(await world.callTool("s__start-notification-stream", input)).toContain(
      "Started sending",
    );
  });

  it("Resource links are returned, traits of trusted servers are used, and elicitation is refused", async () => {
    const { url } = await startExampleServer("simpleStreamableHttp");
    const world = await openMcpWorld([{ type: "http", name: "s", url, trusted: true }]);
    expect(await world.callTool("s__list-files")).toContain("[link, ");
    expect(world.findTool("s__multi-greet").spec.traits).toMatchObject({ sideEffect: "read_only" });
    expect(await world.callTool("s__collect-user-info", { infoType: "contact" })).toMatch(
      /^Error collecting contact information: .*Method not found/,
    );
  });

  it.each(["http", "sse"] as const)(
    "A server with the older SSE transport answers, configured as %s",
    async (type) => {
      const { url } = await startExampleServer("simpleSseServer");
      const world = await openMcpWorld([{ type, name: "old", url }]);
      const input = { interval: 1, count: 2 };
      expect(await world.callTool("old__start-notification-stream", input)).toContain("Completed");
    },
  );

  it("A restarted server that lost its session is connected again", async () => {
    const server = await startExampleServer("jsonResponseStreamableHttp");
    const world = await openMcpWorld([{ type: "http", name: "s", url: server.url }]);
    await server.kill();
    await expect(world.callTool("s__greet", { name: "Ada" })).rejects.toThrow(
      /^The MCP server s cannot be reached at .*: ECONNREFUSED$/,
    );
    await expect(world.callTool("s__greet", { name: "Ada" })).rejects.toThrow("is not connected");
    await server.restart();
    await eventually(() => expect(world.clock.pending).toBe(1));
    world.clock.advance(1000);
    await eventually(() => expect(world.status()).toMatchObject([{ state: "connected" }]));
    expect(await world.callTool("s__greet", { name: "Ada" })).toBe("Hello, Ada!");
    expect(world.changeCount).toBe(1);
  });

  it("A lost session is reported once, and the server is initialized again", async () => {
    const server = await startExampleServer("jsonResponseStreamableHttp");
    const world = await openMcpWorld([{ type: "http", name: "s", url: server.url }]);
    await server.kill();
    await server.restart();
    await expect(world.callTool("s__greet", { name: "Ada" })).rejects.toThrow(/HTTP 404/);
    await eventually(() => expect(world.clock.pending).toBe(1));
    world.clock.advance(1000);
    await eventually(() => expect(world.status()).toMatchObject([{ state: "connected" }]));
    expect(await world.callTool("s__greet", { name: "Ada" })).toBe("Hello, Ada!");
  });

  it("A server that stops during a tool call fails the tool call", async () => {
    const server = await startExampleServer("simpleStatelessStreamableHttp");
    const world = await openMcpWorld([{ type: "http", name: "s", url: server.url }]);
    const running = world.callTool("s__start-notification-stream", { interval: 1000, count: 100 });
    running.catch(() => undefined);
    const before = world.callTool("s__start-notification-stream", { interval: 1, count: 1 });
    expect(await before).toContain("Started sending");
    await server.kill();
    await expect(running).rejects.toThrow(
      "The MCP server s closed the connection before it responded. The outcome of the tool call is unknown",
    );
  });
});
