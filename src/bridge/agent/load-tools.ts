import { access } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { SpanlineError, formatThrown } from "../../domain/errors.ts";
import { isObject } from "../../data/json.ts";
import type { Tool } from "../../tools/tool.ts";
import { isTool } from "../../config/agent/is-tool.ts";

/** The tools that a file of code exports by default. Loading it runs it. */
export async function loadTools(file: string, folder = "."): Promise<readonly Tool[]> {
  const loaded = await importFile(file, resolve(folder, file));
  const tools = isObject(loaded) ? loaded["default"] : undefined;
  if (!Array.isArray(tools)) {
    throw createLoadError(`${file} has no array of tools as its default export`);
  }
  return tools.map((tool: unknown, at) => {
    if (isTool(tool)) return tool;
    throw createLoadError(
      `default[${at}] of ${file} is no tool; make it with defineTool of "spanline"`,
    );
  });
}

async function importFile(file: string, path: string): Promise<unknown> {
  try {
    return await import(pathToFileURL(path).href);
  } catch (cause) {
    throw createLoadError(`Cannot load ${file}: ${await describeLoadError(cause, path)}`, cause);
  }
}

/** For whoever wrote the file: where in our code it was imported is none of their business. */
async function describeLoadError(cause: unknown, file: string): Promise<string> {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const message = formatThrown(cause).split("\n", 1).join("");
  if (code === "ERR_UNKNOWN_FILE_EXTENSION" && extname(file) === ".ts") {
    return "this version of Node runs no TypeScript; compile it, or use Node 22.18 or later";
  }
  if (code !== "ERR_MODULE_NOT_FOUND") return message;
  const exists = await access(file).then(
    () => true,
    () => false,
  );
  if (!exists) return "there is no such file";
  return /package 'spanline'/.test(message)
    ? `${message}; install spanline in the folder of that file`
    : message;
}

function createLoadError(message: string, cause?: unknown): SpanlineError {
  return new SpanlineError("invalid_tool", message, { details: { path: "tools" }, cause });
}
