import { access } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { SpanlineError, formatThrown } from "../../domain/errors.ts";
import { isObject } from "../../data/json.ts";
import type { Tool } from "../../tools/tool.ts";
import { isTool } from "../../config/agent/check-definition.ts";

/** Loads the tools from the default export of a module. Loading runs the module's code. */
export async function loadTools(file: string, folder = "."): Promise<readonly Tool[]> {
  const loaded = await importFile(file, resolve(folder, file));
  const tools = isObject(loaded) ? loaded["default"] : undefined;
  if (!Array.isArray(tools)) {
    throw createLoadError(`The default export of ${file} is not an array of tools`);
  }
  return tools.map((tool: unknown, at) => {
    if (isTool(tool)) return tool;
    throw createLoadError(
      `default[${at}] of ${file} is not a tool. Fix: create it with defineTool of "spanline"`,
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

/** Describes the error for the author of the module, without the place of the import in Spanline's code. */
async function describeLoadError(cause: unknown, file: string): Promise<string> {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const message = formatThrown(cause).split("\n", 1).join("");
  if (code === "ERR_UNKNOWN_FILE_EXTENSION" && extname(file) === ".ts") {
    return "this version of Node does not run TypeScript. Fix: compile the file, or use Node 22.18 or later";
  }
  if (code !== "ERR_MODULE_NOT_FOUND") return message;
  const exists = await access(file).then(
    () => true,
    () => false,
  );
  if (!exists) return "no such file";
  return /package 'spanline'/.test(message)
    ? `${message}. Fix: install spanline in the folder of the file`
    : message;
}

function createLoadError(message: string, cause?: unknown): SpanlineError {
  return new SpanlineError("invalid_tool", message, { details: { path: "tools" }, cause });
}
