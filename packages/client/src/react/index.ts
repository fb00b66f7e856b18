/** The public surface of `@cairn/client/react`: hooks over conversations, runs and the inbox, and a form from a schema. */
export type { ConversationView, LiveConversation, OutgoingMessage } from '../live/conversation.ts';
export type { InboxView } from '../live/inbox.ts';
export type { LiveStatus } from '../live/live-store.ts';
export type { RunView } from '../live/run.ts';
export { JsonBox, SchemaField, type SchemaFieldProps } from './form/field.tsx';
export { type FormSchema, initialOf, readSchema } from './form/schema.ts';
export { type Conversation, type UseConversationOptions, useConversation, useEntry } from './use-conversation.ts';
export { useInbox } from './use-inbox.ts';
export { useRun } from './use-run.ts';
