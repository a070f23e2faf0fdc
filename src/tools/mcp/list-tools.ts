import { isObject, jsonText } from "../../domain/json.ts";
import type { Scrub } from "../../domain/scrubber.ts";
import { fitsPattern } from "../../domain/tool-pattern.ts";
import { cleanLine } from "./clean-text.ts";
import type { Connection } from "./connect-server.ts";
import { failureOf } from "./failure-of.ts";
import { MCP_LIMITS } from "./limits.ts";
import { readListedTool, type ListedTool, type ToolProblem } from "./listed-tool.ts";
import type { McpServerSettings } from "./mcp-server-settings.ts";
import { anyResult, NO_TIMEOUT } from "./sdk.ts";
import { serverFailure } from "./server-failure.ts";

/** What a server offers. */
export interface Catalog {
  /** By the names that the server knows. */
  readonly tools: ReadonlyMap<string, ListedTool>;
  /** What of its list cannot be used, and why. */
  readonly problems: readonly ToolProblem[];
}

export const EMPTY_CATALOG: Catalog = { tools: new Map(), problems: [] };

/** Asks a server for all of its tools. Rejects with its failure, or when the signal ends it. */
export async function listTools(
  connection: Connection,
  settings: McpServerSettings,
  signal: AbortSignal,
): Promise<Catalog> {
  const { client, opened, scrub } = connection;
  if (client.getServerCapabilities()?.tools === undefined) return EMPTY_CATALOG;
  const gathered = gathering(settings, scrub);
  let cursor: string | undefined;
  const seen = new Set<string>();
  for (let pages = 0; ; pages += 1) {
    const params = cursor === undefined ? {} : { params: { cursor } };
    const request = { method: "tools/list", ...params };
    let page: unknown;
    try {
      page = await client.request(request, anyResult, { signal, timeout: NO_TIMEOUT });
    } catch (error) {
      throw opened.failure ?? failureOf(error, settings, connection);
    }
    const { tools, nextCursor } = isObject(page) ? page : {};
    if (!Array.isArray(tools)) {
      throw serverFailure(settings.name, "protocol", "answered with something else than its tools");
    }
    const hasRoom = gathered.add(tools);
    if (!hasRoom || typeof nextCursor !== "string") return gathered.catalog();
    if (seen.has(nextCursor) || pages + 1 >= MCP_LIMITS.pages) {
      return gathered.catalog(`its list has no end after ${pages + 1} pages; the rest is left out`);
    }
    seen.add(nextCursor);
    cursor = nextCursor;
  }
}

interface Gathering {
  /** Whether there is room for more. */
  add(given: readonly unknown[]): boolean;
  catalog(more?: string): Catalog;
}

function gathering(settings: McpServerSettings, scrub: Scrub): Gathering {
  const tools = new Map<string, ListedTool>();
  const byModelName = new Map<string, ListedTool>();
  const problems: ToolProblem[] = [];
  let left = 0;
  let size = 0;
  let isTooLarge = false;
  const take = (given: unknown): void => {
    const name = isObject(given) ? given["name"] : undefined;
    if (!isObject(given) || typeof name !== "string" || name === "") {
      problems.push({ tool: "", problem: "it has no name" });
      return;
    }
    if (!isWanted(name, settings)) return;
    const safeName = scrub(name);
    if (safeName !== name) {
      // Under another name the server would not know it.
      problems.push({ tool: cleanLine(safeName, 100), problem: "a secret is in its name" });
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
    // The one that really has the name keeps it, wherever in the list it stands.
    const isReal = tool.modelName.endsWith(`__${tool.name}`);
    if (twin !== undefined && !isReal) {
      problems.push({ tool: cleanLine(name, 100), problem: TAKEN });
      return;
    }
    const more = sizeOf(tool) - (twin === undefined ? 0 : sizeOf(twin));
    if (size + more > MCP_LIMITS.catalogCharacters) {
      isTooLarge = true;
      return;
    }
    if (twin !== undefined) {
      problems.push({ tool: cleanLine(twin.name, 100), problem: TAKEN });
      tools.delete(twin.name);
    }
    size += more;
    tools.set(name, tool);
    byModelName.set(tool.modelName, tool);
  };
  return {
    add(given) {
      for (const [at, one] of given.entries()) {
        const isFull = tools.size >= MCP_LIMITS.tools || problems.length >= MCP_LIMITS.tools;
        if (isFull || problems.at(-1)?.isSlow === true) {
          left += given.length - at;
          return false;
        }
        take(one);
        if (isTooLarge) {
          left += given.length - at;
          return false;
        }
      }
      return true;
    },
    catalog(more) {
      const most = `${left} or more tools are left out: no more than ${MCP_LIMITS.tools} of a server are taken, with ${MCP_LIMITS.catalogCharacters} characters in all, and none after one that takes too long to read; name those that you want with include`;
      const notes = [...(left > 0 ? [most] : []), ...(more === undefined ? [] : [more])];
      return {
        tools,
        problems: [...problems, ...notes.map((note) => ({ tool: "", problem: note }))],
      };
    },
  };
}

const TAKEN = "another tool has its name";

function sizeOf({ description, schema }: ListedTool): number {
  return description.length + jsonText(schema).length;
}

function isWanted(name: string, { include, exclude = [] }: McpServerSettings): boolean {
  const fits = (pattern: string): boolean => fitsPattern(pattern, name);
  return (include === undefined || include.some(fits)) && !exclude.some(fits);
}
