/** A frame that scrolls, by the keyboard too: the tab key reaches it. */
import type { ComponentProps } from 'react';

// biome-ignore lint/a11y/noNoninteractiveTabindex: a frame without a tab stop cannot be scrolled without a mouse.
export const ScrollFrame = (props: ComponentProps<'div'>) => <div {...props} tabIndex={0} />;
