/** Starts the page. The server of the page adds the key to each request, so that no key is in the browser. */
import { createClient } from '@cairn/client/context';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Chat } from './chat.tsx';

const client = createClient({ url: location.origin });
const root = document.getElementById('root');

if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <Chat client={client} />
    </StrictMode>,
  );
}
