/** What a conversation is, beside its items. */
export interface ConversationFacts {
  readonly sessionId: string;
  /** In milliseconds since 1970. */
  readonly createdAt: number;
  readonly metadata: { readonly [name: string]: string };
}

export function conversationObject({ sessionId, createdAt, metadata }: ConversationFacts) {
  return {
    id: sessionId,
    object: "conversation",
    created_at: Math.floor(createdAt / 1000),
    metadata,
  } as const;
}
