import { isObject } from "../../domain/json.ts";

export type ClientNotification = { readonly type: "cancel"; readonly sessionId: string };

/** Undefined for what we do not know: a notification gets no answer, not even that one. */
export function decodeNotification(
  method: string,
  params: unknown,
): ClientNotification | undefined {
  if (method !== "session/cancel" || !isObject(params)) return undefined;
  const { sessionId } = params;
  return typeof sessionId === "string" ? { type: "cancel", sessionId } : undefined;
}
