/** One tool, or a family of them, and the name that people read. */
export interface DisplayName {
  /** What the tool's name starts with. */
  readonly prefix: string;
  /** What it holds anywhere; empty for the whole family. */
  readonly includes: string;
  readonly label: string;
}

/** More names, looked at before the built-in ones; a function may answer for any tool. */
export type DisplayNames = readonly DisplayName[] | ((name: string) => string | undefined);

/** The name of a tool for people; its own name when nobody gave it another. */
export function resolveDisplayName(name: string | undefined, names: DisplayNames = []): string {
  if (name === undefined || name === "") return UNKNOWN_TOOL;
  const configuredLabel = typeof names === "function" ? names(name) : findLabel(names, name);
  return configuredLabel ?? findLabel(AWS_KNOWLEDGE_TOOLS, name) ?? name;
}

/** The name of a tool that an app announced in its own words. */
export function formatAnnouncedName(name: string | undefined): string {
  return name === undefined || name === "" ? UNKNOWN_TOOL : `🔧 ${name}`;
}

/** The tools of the AWS Knowledge MCP server. */
const AWS_KNOWLEDGE_TOOLS: readonly DisplayName[] = [
  { prefix: "aws___", includes: "search_documentation", label: "🔍 AWS Documentation Search" },
  { prefix: "aws___", includes: "read_documentation", label: "📖 AWS Documentation Reader" },
  { prefix: "aws___", includes: "recommend", label: "💡 AWS Documentation Recommendations" },
];

const UNKNOWN_TOOL = "Unknown Tool";

function findLabel(names: readonly DisplayName[], name: string): string | undefined {
  return names.find(({ prefix, includes }) => name.startsWith(prefix) && name.includes(includes))
    ?.label;
}
