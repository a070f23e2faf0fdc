import { stat } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";

/** A program that a configuration starts for an MCP server. */
export interface ServerProgram {
  readonly server: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Where it runs, from the folder of the configuration. */
  readonly cwd: string;
}

export interface CodeReferences {
  /** From the folder of the configuration. */
  readonly toolFiles: readonly string[];
  readonly programs: readonly ServerProgram[];
}

/** Files whose code runs before anybody calls a tool: those of tools, and what the programs of MCP servers are given. */
export async function listCodeFiles(
  { toolFiles, programs }: CodeReferences,
  folder: string,
): Promise<string[]> {
  const named = programs.flatMap(({ command, args, cwd }) => {
    const names = [...(command.includes("/") ? [command] : []), ...args.flatMap(extractFileNames)];
    // By its full path, and elsewhere, it came with the machine and not with the configuration.
    const localNames = names.filter((name) => !isAbsolute(name) || name.startsWith(`${folder}/`));
    return localNames.map((name) => resolve(folder, cwd, name));
  });
  const files: string[] = [];
  for (const path of named) if (await isFile(path)) files.push(path);
  return [...new Set([...toolFiles.map((file) => resolve(folder, file)), ...files])];
}

/** As a whole, behind a `=`, and the words of what may be a script for a shell. */
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
