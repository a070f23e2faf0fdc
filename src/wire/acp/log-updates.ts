import type { DiagnosticRaised, UnknownReported } from "../../domain/agent-event.ts";
import type { Emit } from "../../domain/codec.ts";
import type { JsonObject } from "../../domain/json.ts";
import { fittedText } from "./fitted.ts";
import { tell, tellVendor, type AcpOutput, type UpdateState } from "./update-state.ts";
import { logUpdate } from "./vendor-updates.ts";

export function logDiagnostic(
  state: UpdateState,
  { diagnostic }: DiagnosticRaised,
  emit: Emit<AcpOutput>,
): void {
  const { message, ...fields } = diagnostic;
  warn(state, message, fields, emit);
}

/** Without what it was: that is for the operator, who reads the log. */
export function logUnknown(
  state: UpdateState,
  { what, name }: UnknownReported,
  emit: Emit<AcpOutput>,
): void {
  const message = `The agent's side sent something unknown: ${name}`;
  warn(state, message, { what, name }, emit);
}

/** Hosts have it in their log. Others show it to their user, where they can, and when it happens. */
function warn(
  state: UpdateState,
  message: string,
  fields: JsonObject,
  emit: Emit<AcpOutput>,
): void {
  const { isBridgeHost, takesNotices } = state.profile();
  if (isBridgeHost) {
    return tellVendor(state, logUpdate({ level: "warn", message, fields }), emit);
  }
  if (!takesNotices || !state.isLive || message === "") return;
  const title = fittedText(message, state.lineBytes / 4);
  tell(state, { sessionUpdate: "notice", severity: "warning", title }, emit);
}
