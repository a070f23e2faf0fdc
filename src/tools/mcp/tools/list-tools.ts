import { isObject, toJsonText } from "../../../data/json.ts";
import type { RedactSecrets } from "../../../data/secret-redactor.ts";
import { matchesPattern } from "../../../text/match-pattern.ts";
import { cleanLine } from "../clean-text.ts";
import type { ServerConnection } from "../connection/connect-server.ts";
import { toServerFailure } from "../connection/sdk-failure.ts";
import { MCP_LIMITS } from "../mcp-limits.ts";
import { readListedTool, type ListedTool, type ToolProblem } from "./listed-tool.ts";
import type { McpServerSettings } from "../mcp-server-settings.ts";
import { anyResult, NO_TIMEOUT } from "../mcp-sdk.ts";
import { createServerFailure } from "../connection/server-failure.ts";

/** The tools of a server. */
export interface Catalog {
  /** By server-side name. */
  readonly tools: ReadonlyMap<string, ListedTool>;
  /** Unusable entries of the server's list, with reasons. */
  readonly problems: readonly ToolProblem[];
}

export const EMPTY_CATALOG: Catalog = { tools: new Map(), problems: [] };

/** Lists all tools of a server, page by page. Rejects with a server failure, or when the signal aborts. */
export async function listTools(
  connection: ServerConnection,
  settings: McpServerSettings,
  signal: AbortSignal,
): Promise<Catalog> {
  const { client, transport, scrub } = connection;
  if (client.getServerCapabilities()?.tools === undefined) return EMPTY_CATALOG;
  const builder = createCatalogBuilder(settings, scrub);
  let cursor: string | undefined;
  const seenCursors = new Set<string>();
  for (let pages = 0; ; pages += 1) {
    const params = cursor === undefined ? {} : { params: { cursor } };
    const request = { method: "tools/list", ...params };
    let page: unknown;
    try {
      page = await client.request(request, anyResult, { signal, timeout: NO_TIMEOUT });
    } catch (error) {
      throw transport.failure ?? toServerFailure(error, settings, connection);
    }
    const { tools, nextCursor } = isObject(page) ? page : {};
    if (!Array.isArray(tools)) {
      throw createServerFailure(settings.name, "protocol", "did not respond with a list of tools");
    }
    const hasRoom = builder.add(tools);
    if (!hasRoom || typeof nextCursor !== "string") return builder.build();
    if (seenCursors.has(nextCursor) || pages + 1 >= MCP_LIMITS.pages) {
      return builder.build(
        `its tool list does not end after ${pages + 1} pages; the rest is omitted`,
      );
    }
    seenCursors.add(nextCursor);
    cursor = nextCursor;
  }
}

interface CatalogBuilder {
  /** Returns false if the catalog is full. */
  add(entries: readonly unknown[]): boolean;
  build(note?: string): Catalog;
}

function createCatalogBuilder(settings: McpServerSettings, scrub: RedactSecrets): CatalogBuilder {
  const tools = new Map<string, ListedTool>();
  const byModelName = new Map<string, ListedTool>();
  const problems: ToolProblem[] = [];
  let omitted = 0;
  let size = 0;
  let isTooLarge = false;
  const addTool = (given: unknown): void => {
    const name = isObject(given) ? given["name"] : undefined;
    if (!isObject(given) || typeof name !== "string" || name === "") {
      problems.push({ tool: "", problem: "it has no name" });
      return;
    }
    if (!isIncluded(name, settings)) return;
    const safeName = scrub(name);
    if (safeName !== name) {
      // The server would not recognize a redacted name.
      problems.push({ tool: cleanLine(safeName, 100), problem: "its name contains a secret" });
      return;
    }
    if (tools.has(name)) {
      problems.push({ tool: cleanLine(name, 100), problem: "it is listed twice" });
      return;
    }
    const { tool, problem } = readListedTool(scrub(given), name, settings);
    if (problem !== undefined) problems.push(problem);
    if (tool === undefined) return;
    const twin = byModelName.get(tool.modelName);
    // The tool whose real name matches keeps the name, regardless of the order.
    const isReal = tool.modelName.endsWith(`__${tool.name}`);
    if (twin !== undefined && !isReal) {
      problems.push({ tool: cleanLine(name, 100), problem: NAME_TAKEN });
      return;
    }
    const extra = measureTool(tool) - (twin === undefined ? 0 : measureTool(twin));
    if (size + extra > MCP_LIMITS.catalogCharacters) {
      isTooLarge = true;
      return;
    }
    if (twin !== undefined) {
      problems.push({ tool: cleanLine(twin.name, 100), problem: NAME_TAKEN });
      tools.delete(twin.name);
    }
    size += extra;
    tools.set(name, tool);
    byModelName.set(tool.modelName, tool);
  };
  return {
    add(given) {
      for (const [at, entry] of given.entries()) {
        const isFull = tools.size >= MCP_LIMITS.tools || problems.length >= MCP_LIMITS.tools;
        if (isFull || problems.at(-1)?.isSlow === true) {
          omitted += given.length - at;
          return false;
        }
        addTool(entry);
        if (isTooLarge) {
          omitted += given.length - at;
          return false;
        }
      }
      return true;
    },
    build(extra) {
      const limitNote = `${omitted} or more tools are omitted: a server may have at most ${MCP_LIMITS.tools} tools and ${MCP_LIMITS.catalogCharacters} characters in all, and no tool is read after one that takes too long. Fix: name the required tools with include`;
      const notes = [...(omitted > 0 ? [limitNote] : []), ...(extra === undefined ? [] : [extra])];
      return {
        tools,
        problems: [...problems, ...notes.map((note) => ({ tool: "", problem: note }))],
      };
    },
  };
}

const NAME_TAKEN = "another tool has the same name";

function measureTool({ description, schema }: ListedTool): number {
  return description.length + toJsonText(schema).length;
}

function isIncluded(name: string, { include, exclude = [] }: McpServerSettings): boolean {
  const matches = (pattern: string): boolean => matchesPattern(pattern, name);
  return (include === undefined || include.some(matches)) && !exclude.some(matches);
}
