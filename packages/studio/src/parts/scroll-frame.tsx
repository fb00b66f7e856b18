/** A frame that scrolls, by the keyboard too: whoever has no mouse reaches it with the tab key. */
import type { ComponentProps } from 'react';

export const ScrollFrame = (props: ComponentProps<'div'>) => <div {...props} tabIndex={0} />;
