import { pluralize } from "../../text/pluralize.ts";
import { createToolOutput, type ToolOutput } from "../../domain/tools/tool-output.ts";
import type { Tool } from "../tool.ts";
import { readBooleanArgument, readNumberArgument, readStringArgument } from "./tool-arguments.ts";
import {
  createWalkNotes,
  walkFolder,
  type WalkEntry,
  type WalkNotes,
  isUsuallySkipped,
  formatWalkNotes,
} from "./files/walk-folder.ts";
import { createRefusal } from "./tool-refusal.ts";
import { createLoopPacer } from "./text/loop-pacer.ts";
import { readGlob, type Glob } from "./text/glob.ts";
import { openWorkspaceFolder, locateReadablePath, formatPath } from "./workspace.ts";
import {
  createWorkspaceTool,
  type WorkspaceToolContext,
  type WorkspaceToolCall,
} from "./create-workspace-tool.ts";

export function createListFilesTool(context: WorkspaceToolContext): Tool {
  return createWorkspaceTool(
    {
      name: "list_files",
      description:
        "Lists a folder of the workspace: one path per line, relative to the folder; folders end with /, links are not followed. " +
        "With a glob, everything below is searched; a glob without / matches names. .gitignore is not read; .git " +
        "and node_modules are not entered unless include_all is set.",
      properties: {
        path: {
          type: "string",
          description: "The folder, relative to the workspace; default: the workspace",
        },
        glob: { type: "string", description: "For example *.ts or src/**/*.{js,ts}" },
        depth: {
          type: "integer",
          minimum: 1,
          description: "Maximum depth; default: 1, or unlimited with a glob",
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
    context,
  );
}

async function listFiles({
  input,
  workspace,
  context,
  clock,
}: WorkspaceToolCall): Promise<ToolOutput> {
  const { limits } = workspace;
  const pattern = readStringArgument(input, "glob");
  const glob = pattern === undefined ? matchAll : await parseGlob(pattern);
  const maxDepth = readNumberArgument(input, "depth") ?? (pattern === undefined ? 1 : limits.depth);
  const depth = Math.min(maxDepth, limits.depth);
  const pathArgument = readStringArgument(input, "path");
  const pathInput = { argument: "path", input: pathArgument ?? "." };
  // An absent path argument was not part of the policy evaluation; the default is the workspace itself.
  const located = await locateReadablePath(
    workspace,
    pathInput,
    pathArgument === undefined ? undefined : context,
  );
  const folder = await openWorkspaceFolder(workspace, located.names, located);
  const notes = createWalkNotes();
  const lines: string[] = [];
  let omitted = 0;
  try {
    const walk = {
      depth,
      entries: limits.walkEntries,
      isSkipped: readBooleanArgument(input, "include_all") ? () => false : isUsuallySkipped,
      yieldToLoop: createLoopPacer(clock, context.signal).yieldToLoop,
    };
    for await (const entry of walkFolder(folder, walk, notes)) {
      if (!glob(entry.path)) continue;
      if (lines.length < limits.listEntries) lines.push(formatEntry(entry));
      else omitted += 1;
    }
  } finally {
    await folder.close();
  }
  const otherFolders = located.path === "." ? workspace.folders : [];
  return formatListing({ path: located.path, lines, omitted, depth, otherFolders }, notes);
}

const matchAll: Glob = () => true;

export async function parseGlob(pattern: string): Promise<Glob> {
  const read = await readGlob(pattern);
  if (read.problem !== undefined) {
    throw createRefusal("invalid", `${formatPath(pattern)} cannot be used: ${read.problem}`);
  }
  return read.glob;
}

/** A name with line breaks or quotes is formatted as JSON. */
function formatEntry({ path, type }: WalkEntry): string {
  const text = formatPath(path);
  return type === "folder" ? `${text}/` : type === "file" ? text : `${text} (${ENTRY_KINDS[type]})`;
}

const ENTRY_KINDS = { link: "link", other: "not a file" } as const;

interface Listing {
  readonly path: string;
  readonly lines: readonly string[];
  readonly omitted: number;
  readonly depth: number;
  /** The other folders of the workspace. */
  readonly otherFolders: readonly string[];
}

function formatListing(
  { path, lines, omitted, depth, otherFolders }: Listing,
  notes: WalkNotes,
): ToolOutput {
  const sections = [
    ...(omitted > 0
      ? [`${omitted} more ${omitted === 1 ? "is" : "are"} not shown; use a glob or a deeper path`]
      : []),
    ...(notes.tooDeep > 0
      ? [`${pluralize(notes.tooDeep, "folder was", "folders were")} not entered (depth ${depth})`]
      : []),
    ...formatWalkNotes(notes),
    ...(otherFolders.length > 0
      ? [`other folders of the workspace: ${otherFolders.map(formatPath).join(", ")}`]
      : []),
  ];
  const first = lines.length === 0 ? `Nothing to list in ${path}` : `${lines.length} in ${path}`;
  const text = [first, ...lines, ...sections.map((note) => `[${note}]`)].join("\n");
  return createToolOutput({
    text,
    data: { path, listed: lines.length, more: omitted, isCut: notes.isTruncated },
    locations: [{ path }],
  });
}
