import {
  readFileRead,
  readFileWrite,
  readTerminalName,
  readTerminalStart,
} from "../wire/acp/host/editor-requests.ts";
import { hostMethod, type HostMethod } from "./host-method.ts";
import type { HostOptions } from "./host-options.ts";

/** Files and terminals, as far as they are given. */
export function editorMethods({
  files,
  terminals,
}: Pick<HostOptions, "files" | "terminals">): readonly [string, HostMethod][] {
  const methods: [string, HostMethod][] = [];
  const { read, write } = files ?? {};
  if (read !== undefined) {
    const text = (content: string): unknown => ({ content });
    methods.push(["fs/read_text_file", hostMethod(readFileRead, read, text)]);
  }
  if (write !== undefined) {
    methods.push(["fs/write_text_file", hostMethod(readFileWrite, write, nothing)]);
  }
  if (terminals !== undefined) {
    const { create, output, waitForExit, kill, release } = terminals;
    const named = (terminalId: string): unknown => ({ terminalId });
    methods.push(
      ["terminal/create", hostMethod(readTerminalStart, create, named)],
      ["terminal/output", hostMethod(readTerminalName, output, same)],
      ["terminal/wait_for_exit", hostMethod(readTerminalName, waitForExit, same)],
      ["terminal/kill", hostMethod(readTerminalName, kill, nothing)],
      ["terminal/release", hostMethod(readTerminalName, release, nothing)],
    );
  }
  return methods;
}

function same(done: unknown): unknown {
  return done;
}

function nothing(): unknown {
  return {};
}
