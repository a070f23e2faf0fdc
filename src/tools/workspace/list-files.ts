import { counted } from "../../domain/counted.ts";
import { toolOutput, type ToolOutput } from "../../domain/tool-output.ts";
import type { Tool } from "../tool.ts";
import { flagArgument, numberArgument, textArgument } from "./arguments.ts";
import { noNotes, walkFolder, type WalkEntry, type WalkNotes } from "./files/walk-folder.ts";
import { isUsuallySkipped, walkedNotes } from "./looked-through.ts";
import { refusal } from "./refusal.ts";
import { breather } from "./text/breather.ts";
import { readGlob, type Glob } from "./text/glob.ts";
import { folderAt, locateToRead, shown } from "./workspace.ts";
import { workspaceTool, type ToolGround, type WorkspaceCall } from "./workspace-tool.ts";

export function listFilesTool(ground: ToolGround): Tool {
  return workspaceTool(
    {
      name: "list_files",
      description:
        "Lists a folder of the workspace: one path a line, from that folder; folders end with /, links are not followed. " +
        "With a glob everything below is looked through; a glob without / means the name. .gitignore is not read; .git " +
        "and node_modules are not entered unless include_all is set.",
      properties: {
        path: {
          type: "string",
          description: "The folder, from the workspace; all of it if absent",
        },
        glob: { type: "string", description: "Such as *.ts or src/**/*.{js,ts}" },
        depth: {
          type: "integer",
          minimum: 1,
          description: "How deep; 1 if absent, or all with a glob",
        },
        include_all: { type: "boolean", description: "Enter .git and node_modules too" },
      },
      required: [],
      traits: {
        kind: "read",
        sideEffect: "read_only",
        paths: ["path"],
        capabilities: ["workspace.list"],
      },
      idempotent: true,
      run: listFiles,
    },
    ground,
  );
}

async function listFiles({ input, workspace, context, clock }: WorkspaceCall): Promise<ToolOutput> {
  const { limits } = workspace;
  const pattern = textArgument(input, "glob");
  const glob = pattern === undefined ? everything : await globOf(pattern);
  const wanted = numberArgument(input, "depth") ?? (pattern === undefined ? 1 : limits.depth);
  const depth = Math.min(wanted, limits.depth);
  const given = textArgument(input, "path");
  const place = { argument: "path", input: given ?? "." };
  // An argument that is not there was not judged: what it stands for is the workspace itself.
  const located = await locateToRead(workspace, place, given === undefined ? undefined : context);
  const folder = await folderAt(workspace, located.names, located);
  const notes = noNotes();
  const found: string[] = [];
  let more = 0;
  try {
    const walk = {
      depth,
      entries: limits.walkEntries,
      isSkipped: flagArgument(input, "include_all") ? () => false : isUsuallySkipped,
      rest: breather(clock, context.signal).rest,
    };
    for await (const entry of walkFolder(folder, walk, notes)) {
      if (!glob(entry.path)) continue;
      if (found.length < limits.listEntries) found.push(lineOf(entry));
      else more += 1;
    }
  } finally {
    await folder.close();
  }
  const others = located.path === "." ? workspace.folders : [];
  return output({ path: located.path, found, more, depth, others }, notes);
}

const everything: Glob = () => true;

export async function globOf(pattern: string): Promise<Glob> {
  const read = await readGlob(pattern);
  if (read.problem !== undefined) {
    throw refusal("invalid", `${shown(pattern)} cannot be used: ${read.problem}`);
  }
  return read.glob;
}

/** A name that is more than one line, or has quotes, is told as JSON tells it. */
function lineOf({ path, type }: WalkEntry): string {
  const text = shown(path);
  return type === "folder" ? `${text}/` : type === "file" ? text : `${text} (${KINDS[type]})`;
}

const KINDS = { link: "link", other: "no file" } as const;

interface Listed {
  readonly path: string;
  readonly found: readonly string[];
  readonly more: number;
  readonly depth: number;
  /** Other folders of the workspace. */
  readonly others: readonly string[];
}

function output({ path, found, more, depth, others }: Listed, notes: WalkNotes): ToolOutput {
  const told = [
    ...(more > 0
      ? [`${more} more ${more === 1 ? "is" : "are"} not shown; use a glob or a deeper path`]
      : []),
    ...(notes.tooDeep > 0
      ? [`${counted(notes.tooDeep, "folder was", "folders were")} not entered (depth ${depth})`]
      : []),
    ...walkedNotes(notes),
    ...(others.length > 0
      ? [`other folders of the workspace: ${others.map(shown).join(", ")}`]
      : []),
  ];
  const first = found.length === 0 ? `Nothing to list in ${path}` : `${found.length} in ${path}`;
  const text = [first, ...found, ...told.map((note) => `[${note}]`)].join("\n");
  return toolOutput({
    text,
    data: { path, listed: found.length, more, isCut: notes.isCut },
    locations: [{ path }],
  });
}
