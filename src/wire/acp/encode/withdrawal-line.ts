import { encodeNotificationLine } from "../../jsonrpc/encode-message.ts";

/** Tells the client that its answer is no longer wanted. */
export function encodeWithdrawalLine(requestId: string): string {
  return encodeNotificationLine("$/cancel_request", { requestId });
}
