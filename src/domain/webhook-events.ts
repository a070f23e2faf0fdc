/** Events of requests to people, as sent to webhooks. */
export const WEBHOOK_EVENTS = ["request.opened", "request.resolved"] as const;

export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];
