/** The conversation that the address names; without one, a new one. */
import { getRouteApi } from '@tanstack/react-router';
import { ChatScreen } from './chat-screen.tsx';

const newRoute = getRouteApi('/shell/chat');
const route = getRouteApi('/shell/chat/$contextId');

export function NewChatPage() {
  const { agent } = newRoute.useSearch();
  return <ChatScreen contextId={null} agent={agent ?? null} />;
}

export function ChatPage() {
  const { contextId } = route.useParams();
  return <ChatScreen contextId={contextId} agent={null} />;
}
