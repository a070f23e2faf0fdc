/** What a conversation is, beside its items. */
export interface ConversationFacts {
  readonly sessionId: string;
  /** In milliseconds since 1970. */
  readonly createdAt: number;
  readonly title: string | null;
}

export function conversationObject({ sessionId, createdAt, title }: ConversationFacts) {
  return {
    id: sessionId,
    object: "conversation",
    created_at: Math.floor(createdAt / 1000),
    metadata: title === null ? {} : { title },
  } as const;
}
