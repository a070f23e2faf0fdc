/** The fields of a conversation without its items. */
export interface ConversationFields {
  readonly sessionId: string;
  /** Milliseconds since 1970. */
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
