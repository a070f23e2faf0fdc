import type { ShellList } from "../../domain/tools/shell.ts";
import { decodeHostOperation } from "../../wire/acp/host/host-operation.ts";
import { performShellOperation } from "../../wire/acp/host/perform-shell-operation.ts";
import type { HostMethod } from "./host-method.ts";

/** What is asked about shells. Another default counts for as long as the host lives. */
export function createShellMethods(shells: ShellList | undefined): readonly [string, HostMethod][] {
  if (shells === undefined) return [];
  let knownShells = shells;
  const call: HostMethod = async (params) => {
    const operation = decodeHostOperation(params);
    if (!operation.ok) return operation;
    const performed = performShellOperation(knownShells, operation.value);
    if (!performed.ok) return performed;
    ({ knownShells } = performed.value);
    return { ok: true, result: performed.value.result };
  };
  return [
    ["host/call", call],
    ["host_call", call],
  ];
}
