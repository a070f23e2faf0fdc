import { Writable } from "node:stream";
import type { CommandIo } from "../process/command-io.ts";

/**
 * Reserves standard output for a protocol. All other output, such as `console.log` of a tool or a library, goes to
 * standard error from now on.
 */
export function reserveStdout({ stdout, stderr }: Pick<CommandIo, "stdout" | "stderr">): Writable {
  const write = stdout.write.bind(stdout);
  const output = new Writable({
    decodeStrings: false,
    write: (chunk: string, encoding, done) => void write(chunk, encoding, done),
  });
  // A reader may close the pipe at any time (EPIPE).
  stdout.on("error", (error) => output.destroy(error));
  stdout.on("close", () => output.destroy());
  stdout.write = stderr.write.bind(stderr);
  return output;
}
