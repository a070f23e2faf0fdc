import { basename } from "node:path";

/** This program as others have to start it: by its name only where that is how it was started. */
export function resolveProgramName(): string {
  const [, program = "spanline"] = process.argv;
  return basename(program) === "spanline" ? "spanline" : `node ${program}`;
}
