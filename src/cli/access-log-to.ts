import { openSync, writeSync } from "node:fs";
import { SpanlineError, thrownMessage } from "../domain/errors.ts";

type Write = (line: string) => void;

/** Where the lines of an access log go: to a file of their own, or among the notes. */
export function accessLogTo(target: true | string, note: Write): Write {
  return target === true ? note : appendingTo(target, note);
}

/** As one goes: what was answered is in it, however this process ends. */
function appendingTo(file: string, note: Write): Write {
  const opened = openedFile(file);
  let hasFailed = false;
  return (line) => {
    try {
      writeSync(opened, line);
      hasFailed = false;
    } catch (error) {
      // A full disk is no reason to answer nobody, and is said once.
      if (!hasFailed) note(`The access log cannot be written: ${thrownMessage(error)}\n`);
      hasFailed = true;
    }
  };
}

function openedFile(file: string): number {
  try {
    return openSync(file, "a", 0o600);
  } catch (error) {
    const message = `The access log cannot be opened: ${thrownMessage(error)}`;
    throw new SpanlineError("invalid_option", message, { details: { path: "accessLog" } });
  }
}
