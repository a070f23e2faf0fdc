/** What a conversation is, beside its items. */
export interface ConversationFields {
  readonly sessionId: string;
  /** In milliseconds since 1970. */
  readonly createdAt: number;
  readonly metadata: { readonly [name: string]: string };
}

export function encodeConversation({ sessionId, createdAt, metadata }: ConversationFields) {
  return {
    id: sessionId,
    object: "conversation",
    created_at: Math.floor(createdAt / 1000),
    metadata,
  } as const;
}
