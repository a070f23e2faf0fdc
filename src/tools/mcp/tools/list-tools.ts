import { isObject, toJsonText } from "../../../data/json.ts";
import type { RedactSecrets } from "../../../data/secret-redactor.ts";
import { matchesPattern } from "../../../text/match-pattern.ts";
import { cleanLine } from "../../../text/clean-text.ts";
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
  const problems: ToolProblem[] = [];
  const table = createToolTable();
  let omitted = 0;

  /** Returns false if the tool does not fit. */
  function addTool(given: unknown): boolean {
    const named = readEntry(given, settings, scrub);
    if (named === undefined) return true;
    if ("problem" in named) {
      problems.push(named);
      return true;
    }
    const { name, entry } = named;
    if (table.tools.has(name)) {
      problems.push({ tool: cleanLine(name, 100), problem: "it is listed twice" });
      return true;
    }
    const { tool, problem } = readListedTool(scrub(entry), name, settings);
    if (problem !== undefined) problems.push(problem);
    const result = tool === undefined ? {} : table.put(tool);
    if (result.unnamed !== undefined) {
      problems.push({ tool: cleanLine(result.unnamed.name, 100), problem: NAME_TAKEN });
    }
    return result.isTooLarge !== true;
  }

  return {
    add(given) {
      for (const [at, entry] of given.entries()) {
        const isFull = table.tools.size >= MCP_LIMITS.tools || problems.length >= MCP_LIMITS.tools;
        if (isFull || problems.at(-1)?.isSlow === true || !addTool(entry)) {
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
        tools: table.tools,
        problems: [...problems, ...notes.map((note) => ({ tool: "", problem: note }))],
      };
    },
  };
}

interface PutResult {
  /** The tool left out because another tool has the same name for the model. */
  readonly unnamed?: ListedTool;
  /** Whether the tool would exceed the size limit of the catalog. */
  readonly isTooLarge?: boolean;
}

/** The tools with unique model names, limited in size. */
function createToolTable() {
  const tools = new Map<string, ListedTool>();
  const byModelName = new Map<string, ListedTool>();
  let size = 0;
  return {
    tools: tools as ReadonlyMap<string, ListedTool>,
    put(tool: ListedTool): PutResult {
      const twin = byModelName.get(tool.modelName);
      // The tool whose real name matches keeps the name, regardless of the order.
      const isReal = tool.modelName.endsWith(`__${tool.name}`);
      if (twin !== undefined && !isReal) return { unnamed: tool };
      const extra = measureTool(tool) - (twin === undefined ? 0 : measureTool(twin));
      if (size + extra > MCP_LIMITS.catalogCharacters) return { isTooLarge: true };
      size += extra;
      if (twin !== undefined) tools.delete(twin.name);
      tools.set(tool.name, tool);
      byModelName.set(tool.modelName, tool);
      return twin === undefined ? {} : { unnamed: twin };
    },
  };
}

interface NamedEntry {
  readonly name: string;
  readonly entry: { readonly [name: string]: unknown };
}

/** Reads the name of an entry. Undefined if the settings exclude the tool. */
function readEntry(
  entry: unknown,
  settings: McpServerSettings,
  scrub: RedactSecrets,
): NamedEntry | ToolProblem | undefined {
  const name = isObject(entry) ? entry["name"] : undefined;
  if (!isObject(entry) || typeof name !== "string" || name === "") {
    return { tool: "", problem: "it has no name" };
  }
  if (!isIncluded(name, settings)) return undefined;
  const safeName = scrub(name);
  if (safeName === name) return { name, entry };
  // The server would not recognize a redacted name.
  return { tool: cleanLine(safeName, 100), problem: "its name contains a secret" };
}

const NAME_TAKEN = "another tool has the same name";

function measureTool({ description, schema }: ListedTool): number {
  return description.length + toJsonText(schema).length;
}

function isIncluded(name: string, { include, exclude = [] }: McpServerSettings): boolean {
  const matches = (pattern: string): boolean => matchesPattern(pattern, name);
  return (include === undefined || include.some(matches)) && !exclude.some(matches);
}
