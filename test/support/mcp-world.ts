import { onTestFinished } from "vitest";
import type { SpanlineError } from "../../src/domain/errors.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import type { McpServerSettings } from "../../src/tools/mcp/mcp-server-settings.ts";
import {
  openMcpServers,
  type McpServers,
  type McpWork,
} from "../../src/tools/mcp/open-mcp-servers.ts";
import type { Tool, ToolContext } from "../../src/tools/tool.ts";
import { fakeClock, type FakeClock } from "./fake-clock.ts";

/** The MCP servers of a session, by a clock that stands still. */
export interface McpWorld extends McpServers {
  readonly clock: FakeClock;
  readonly reports: readonly SpanlineError[];
  /** How often the tools have changed. */
  readonly changes: number;
  /** By its name for the model. */
  tool(name: string): Tool;
  call(name: string, input?: JsonObject, more?: Partial<ToolContext>): Promise<unknown>;
}

export async function mcpWorld(
  settings: readonly McpServerSettings[],
  more: Partial<McpWork> = {},
): Promise<McpWorld> {
  const clock = fakeClock();
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
    changed: () => void (changes += 1),
    ...more,
  });
  onTestFinished(() => servers.close());
  const tool = (name: string): Tool => {
    const found = servers.tools().find(({ facts }) => facts.name === name);
    if (found !== undefined) return found;
    throw new Error(`There is no tool ${name}`);
  };
  return {
    ...servers,
    clock,
    reports,
    get changes() {
      return changes;
    },
    tool,
    call: async (name, input = {}, context = {}) => tool(name).run(input, toolContext(context)),
  };
}

export function toolContext(more: Partial<ToolContext> = {}): ToolContext {
  const absent = (): never => {
    throw new Error("Nobody needs that here");
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
    ...more,
  };
}
