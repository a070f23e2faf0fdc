import type { KnownShells } from "../domain/shell.ts";
import { readNamedCall } from "../wire/acp/host/named-call.ts";
import { performShellCall } from "../wire/acp/host/perform-shell-call.ts";
import type { HostMethod } from "./host-method.ts";

/** What is asked about shells. Another default counts for as long as the host lives. */
export function shellMethods(shells: KnownShells | undefined): readonly [string, HostMethod][] {
  if (shells === undefined) return [];
  let known = shells;
  const call: HostMethod = async (params) => {
    const asked = readNamedCall(params);
    if (!asked.ok) return asked;
    const performed = performShellCall(known, asked.value);
    if (!performed.ok) return performed;
    ({ known } = performed.value);
    return { ok: true, result: performed.value.result };
  };
  return [
    ["host/call", call],
    ["host_call", call],
  ];
}
