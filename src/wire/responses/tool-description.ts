/** What a tool is for. A caller need not say it, and agents want to be told something: then it is what its name says. */
export function describeTool(name: string, description: string | null | undefined): string {
  if (description !== undefined && description !== null && description.trim() !== "")
    return description;
  const words = name
    .replace(/([a-z\d])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, "$1$3 $2")
    .split(/[\s_-]+/)
    .filter((word) => word !== "")
    .map((word) => (/^[A-Z]+$/.test(word) ? word : word.toLowerCase()));
  const text = words.join(" ");
  return text === "" ? name : text.charAt(0).toUpperCase() + text.slice(1);
}
