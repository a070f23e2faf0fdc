/** A display name for a tool or a family of tools. */
export interface DisplayName {
  /** The start of the tool's name. */
  readonly prefix: string;
  /** A part of the tool's name. Empty for all tools with the prefix. */
  readonly includes: string;
  readonly label: string;
}

/** Additional display names, checked before the built-in names. A function may return a name for any tool. */
export type DisplayNames = readonly DisplayName[] | ((name: string) => string | undefined);

/** Returns the display name of a tool. Default: the name of the tool. */
export function resolveDisplayName(name: string | undefined, names: DisplayNames = []): string {
  if (name === undefined || name === "") return UNKNOWN_TOOL;
  const configuredLabel = typeof names === "function" ? names(name) : findLabel(names, name);
  return configuredLabel ?? findLabel(AWS_KNOWLEDGE_TOOLS, name) ?? name;
}

/** Formats the name of a tool announced by an app with its own event. */
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
