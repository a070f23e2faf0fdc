import type { DiagnosticRaised, UnknownReported } from "../../domain/agent-event.ts";
import type { Emit } from "../../domain/codec.ts";
import { tellVendor, type AcpOutput, type UpdateState } from "./update-state.ts";
import { logUpdate } from "./vendor-updates.ts";

export function logDiagnostic(
  state: UpdateState,
  { diagnostic }: DiagnosticRaised,
  emit: Emit<AcpOutput>,
): void {
  const { message, ...fields } = diagnostic;
  tellVendor(state, logUpdate({ level: "warn", message, fields }), emit);
}

/** Without what it was: that is for the operator, who reads the log. */
export function logUnknown(
  state: UpdateState,
  { what, name }: UnknownReported,
  emit: Emit<AcpOutput>,
): void {
  const message = `The agent's side sent something unknown: ${name}`;
  tellVendor(state, logUpdate({ level: "warn", message, fields: { what, name } }), emit);
}
