import { notificationLine } from "../jsonrpc/write-message.ts";

/** Tells the client that its answer is no longer wanted. */
export function withdrawalLine(requestId: string): string {
  return notificationLine("$/cancel_request", { requestId });
}
