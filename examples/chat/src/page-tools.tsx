/** Tools that the page executes for agents, and the card of a call. Calls are questions, so that they survive a reload. */
import type { ClientTools } from '@cairn/client/context';
import { useState } from 'react';
import type { Json } from './choices.ts';

/** Sent with each message. A tool without `run` is answered by its card. */
export const pageTools: ClientTools = {
  pick_color: {
    description: 'Lets the user pick a color.',
    parameters: { type: 'object', properties: { of: { type: 'string' } }, required: ['of'] },
  },
};

interface CallProps {
  readonly isBusy: boolean;
  readonly onAnswer: (value: Json) => void;
}

export function PageToolForm({ isBusy, onAnswer }: CallProps) {
  const [color, setColor] = useState('#b3541e');
  return (
    <form
      className="row"
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer({ color });
      }}
    >
      <label>
        Color <input type="color" value={color} onChange={(event) => setColor(event.target.value)} />
      </label>
      <button type="submit" disabled={isBusy}>
        Take it
      </button>
    </form>
  );
}
