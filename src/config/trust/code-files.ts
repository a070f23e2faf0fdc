import { stat } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";

/** A program that a configuration starts as an MCP server. */
export interface ServerProgram {
  readonly server: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Working directory, relative to the configuration. */
  readonly cwd: string;
}

export interface CodeReferences {
  /** Paths relative to the configuration. */
  readonly toolFiles: readonly string[];
  readonly programs: readonly ServerProgram[];
}

/**
 * Lists the files whose code runs before any tool call: tool modules, and files in the command lines of MCP servers.
 */
export async function listCodeFiles(
  { toolFiles, programs }: CodeReferences,
  folder: string,
): Promise<string[]> {
  const named = programs.flatMap(({ command, args, cwd }) => {
    const names = [...(command.includes("/") ? [command] : []), ...args.flatMap(extractFileNames)];
    // An absolute path outside the folder belongs to the machine, not to the configuration.
    const localNames = names.filter((name) => !isAbsolute(name) || name.startsWith(`${folder}/`));
    return localNames.map((name) => resolve(folder, cwd, name));
  });
  const files: string[] = [];
  for (const path of named) if (await isFile(path)) files.push(path);
  return [...new Set([...toolFiles.map((file) => resolve(folder, file)), ...files])];
}

/** Returns the argument as a whole, the part after `=`, and its words, since it may be a shell script. */
function extractFileNames(argument: string): string[] {
  const words = argument.split(/[\s=;&|'"]+/).filter((word) => word !== "");
  return [argument, ...words.slice(0, MAX_WORDS)];
}

const MAX_WORDS = 100;

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
}
