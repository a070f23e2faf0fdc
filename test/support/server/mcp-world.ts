import { onTestFinished } from "vitest";
import type { SpanlineError } from "../../../src/domain/errors.ts";
import type { JsonObject } from "../../../src/data/json.ts";
import type { McpServerSettings } from "../../../src/tools/mcp/mcp-server-settings.ts";
import {
  openMcpServers,
  type McpServers,
  type McpContext,
} from "../../../src/tools/mcp/open-mcp-servers.ts";
import type { Tool, ToolContext } from "../../../src/tools/tool.ts";
import { createFakeClock, type FakeClock } from "../fake-clock.ts";

/** The MCP servers of a session, with a fake clock. */
export interface McpWorld extends McpServers {
  readonly clock: FakeClock;
  readonly reports: readonly SpanlineError[];
  /** How often the tools have changed. */
  readonly changeCount: number;
  /** Finds a tool by its name for the model. */
  findTool(name: string): Tool;
  callTool(name: string, input?: JsonObject, extra?: Partial<ToolContext>): Promise<unknown>;
}

export async function openMcpWorld(
  settings: readonly McpServerSettings[],
  extra: Partial<McpContext> = {},
): Promise<McpWorld> {
  const clock = createFakeClock();
  const reports: SpanlineError[] = [];
  let changes = 0;
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const servers = await openMcpServers(settings, {
    version: "1.0.0",
    clock,
    signal: controller.signal,
    environment: { PATH: process.env["PATH"] },
    report: (failure) => void reports.push(failure),
    onToolsChanged: () => void (changes += 1),
    ...extra,
  });
  onTestFinished(() => servers.close());
  const findTool = (name: string): Tool => {
    const found = servers.tools().find(({ spec }) => spec.name === name);
    if (found !== undefined) return found;
    throw new Error(`The tool ${name} does not exist`);
  };
  return {
    ...servers,
    clock,
    reports,
    get changeCount() {
      return changes;
    },
    findTool,
    callTool: async (name, input = {}, context = {}) =>
      findTool(name).run(input, createToolContext(context)),
  };
}

export function createToolContext(extra: Partial<ToolContext> = {}): ToolContext {
  const absent = (): never => {
    throw new Error("Not available in this test");
  };
  return {
    sessionId: "session",
    toolCallId: "call",
    idempotencyKey: "call",
    attempt: 1,
    signal: new AbortController().signal,
    progress: () => undefined,
    spawn: absent,
    host: absent,
    ...extra,
  };
}
