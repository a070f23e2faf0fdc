import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { SpanlineError, thrownMessage } from "../domain/errors.ts";
import { isObject } from "../domain/json.ts";
import type { Tool } from "../tools/tool.ts";

/** The tools that a file of code exports by default. Loading it runs it. */
export async function loadTools(file: string): Promise<readonly Tool[]> {
  const loaded = await imported(file);
  const tools = isObject(loaded) ? loaded["default"] : undefined;
  if (!Array.isArray(tools)) {
    throw unusable(`${file} has no array of tools as its default export`);
  }
  return tools.map((tool: unknown, at) => {
    if (isTool(tool)) return tool;
    throw unusable(`default[${at}] of ${file} is no tool; make it with defineTool of "spanline"`);
  });
}

async function imported(file: string): Promise<unknown> {
  try {
    return await import(pathToFileURL(resolve(file)).href);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    const hint =
      code === "ERR_UNKNOWN_FILE_EXTENSION" && extname(file) === ".ts"
        ? "this version of Node runs no TypeScript; compile it, or use Node 22.18 or later"
        : thrownMessage(cause).split("\n", 1).join("");
    throw unusable(`Cannot load ${file}: ${hint}`, cause);
  }
}

/** By its form: a tool may come from another copy of this package. */
function isTool(value: unknown): value is Tool {
  if (!isObject(value) || !isObject(value["facts"])) return false;
  return (
    typeof value["facts"]["name"] === "string" &&
    typeof value["check"] === "function" &&
    typeof value["run"] === "function"
  );
}

function unusable(message: string, cause?: unknown): SpanlineError {
  return new SpanlineError("invalid_tool", message, { details: { path: "tools" }, cause });
}
