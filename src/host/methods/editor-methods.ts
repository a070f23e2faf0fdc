import {
  decodeFileRead,
  decodeFileWrite,
  decodeTerminalReference,
  decodeTerminalStart,
} from "../../wire/acp/host/decode-editor-requests.ts";
import { createHostMethod, type HostMethod } from "./host-method.ts";
import type { HostOptions } from "./host-options.ts";

/** Files and terminals, as far as they are given. */
export function createEditorMethods({
  files,
  terminals,
}: Pick<HostOptions, "files" | "terminals">): readonly [string, HostMethod][] {
  const methods: [string, HostMethod][] = [];
  const { read, write } = files ?? {};
  if (read !== undefined) {
    const text = (content: string): unknown => ({ content });
    methods.push(["fs/read_text_file", createHostMethod(decodeFileRead, read, text)]);
  }
  if (write !== undefined) {
    methods.push([
      "fs/write_text_file",
      createHostMethod(decodeFileWrite, write, createEmptyResult),
    ]);
  }
  if (terminals !== undefined) {
    const { create, output, waitForExit, kill, release } = terminals;
    const named = (terminalId: string): unknown => ({ terminalId });
    methods.push(
      ["terminal/create", createHostMethod(decodeTerminalStart, create, named)],
      ["terminal/output", createHostMethod(decodeTerminalReference, output, identity)],
      ["terminal/wait_for_exit", createHostMethod(decodeTerminalReference, waitForExit, identity)],
      ["terminal/kill", createHostMethod(decodeTerminalReference, kill, createEmptyResult)],
      ["terminal/release", createHostMethod(decodeTerminalReference, release, createEmptyResult)],
    );
  }
  return methods;
}

function identity(value: unknown): unknown {
  return value;
}

function createEmptyResult(): unknown {
  return {};
}
