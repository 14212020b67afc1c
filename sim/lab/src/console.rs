//! A serial terminal: collects what the board prints and types what a script says.

use std::collections::VecDeque;

/// The terminal of one serial port: its collected output, and a script of what to type.
#[derive(Debug, Clone, Default)]
pub struct Console {
    output: Vec<u8>,
    /// Output since the last scripted line was typed, for prompt matching.
    since_step: Vec<u8>,
    steps: VecDeque<(Vec<u8>, Vec<u8>)>,
}

impl Console {
    /// Adds a step to the script: when `prompt` has appeared since the previous step, `text` is typed.
    pub fn add_console_script_step(&mut self, prompt: &[u8], text: &[u8]) {
        self.steps.push_back((prompt.to_vec(), text.to_vec()));
    }

    /// Takes a byte that the board sent. Returns the text to type, if a prompt has just become complete.
    pub fn receive_console_byte(&mut self, byte: u8) -> Option<Vec<u8>> {
        self.output.push(byte);
        let (prompt, _) = self.steps.front()?;
        self.since_step.push(byte);
        if !self.since_step.ends_with(prompt) {
            return None;
        }
        self.since_step.clear();
        self.steps.pop_front().map(|(_, text)| text)
    }

    /// Removes the output collected so far and returns it.
    pub fn take_collected_console_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    /// Returns the number of script steps whose prompt has not appeared.
    pub fn script_steps_left(&self) -> usize {
        self.steps.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_each_line_after_its_prompt() {
        let mut console = Console::default();
        console.add_console_script_step(b"nsh> ", b"help\n");
        console.add_console_script_step(b"nsh> ", b"ps\n");
        let mut typed = Vec::new();
        for byte in b"boot\r\nnsh> help\r\nnsh> " {
            typed.extend(console.receive_console_byte(*byte));
        }
        assert_eq!(typed, [b"help\n".to_vec(), b"ps\n".to_vec()]);
        assert_eq!(console.script_steps_left(), 0);
        assert_eq!(console.take_collected_console_output(), b"boot\r\nnsh> help\r\nnsh> ");
    }

    #[test]
    fn prompt_is_not_matched_twice() {
        let mut console = Console::default();
        console.add_console_script_step(b"> ", b"a");
        console.add_console_script_step(b"> ", b"b");
        let typed: Vec<_> = b"> x".iter().filter_map(|byte| console.receive_console_byte(*byte)).collect();
        assert_eq!(typed, [b"a".to_vec()]);
    }
}
