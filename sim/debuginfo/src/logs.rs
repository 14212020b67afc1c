//! Log frames of defmt, read with the strings and places in the image that sent them.

use std::fmt::Write as _;

use anyhow::Error;
use defmt_decoder::{DecodeError, Encoding, Frame, Locations, Table};

/// A frame has this many bytes at most. If there is a longer one, the stream is damaged.
const FRAME_BYTES: usize = 1 << 16;

/// A line of the firmware's log, decoded from a defmt frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// `error`, `warn`, `info`, `debug` or `trace`. None for `println!`.
    pub level: Option<String>,
    /// As the firmware formats it.
    pub timestamp: Option<String>,
    /// The text.
    pub message: String,
    /// Source file and line, if the image has debug information.
    pub place: Option<(String, u64)>,
    /// Module of that code.
    pub module: Option<String>,
}

/// A decoder of the defmt log that one image sends.
pub struct LogDecoder {
    table: Table,
    places: Locations,
    /// Bytes of a frame whose end has not come.
    rest: Vec<u8>,
}

impl LogDecoder {
    /// Returns the decoder of an image. `None` if the image does not use defmt.
    pub fn log_decoder_of_image(image: &[u8]) -> Result<Option<LogDecoder>, Error> {
        let Some(table) = Table::parse(image)? else { return Ok(None) };
        // Without debug information there are no places. The text is complete.
        let places = table.get_locations(image).unwrap_or_default();
        Ok(Some(LogDecoder { table, places, rest: Vec::new() }))
    }

    /// Decodes defmt bytes that follow those of the last call. Returns the lines that became complete.
    pub fn decode_defmt_bytes(&mut self, fresh: &[u8]) -> Vec<LogLine> {
        self.rest.extend_from_slice(fresh);
        match self.table.encoding() {
            Encoding::Raw => self.decode_undelimited_defmt_frames(),
            _ => self.decode_delimited_defmt_frames(),
        }
    }

    /// Decodes consecutive defmt frames without a delimiter. After a damaged frame no further one can be found.
    fn decode_undelimited_defmt_frames(&mut self) -> Vec<LogLine> {
        let mut lines = Vec::new();
        let mut used = 0;
        loop {
            match self.table.decode(&self.rest[used..]) {
                Ok((frame, bytes)) if bytes > 0 => {
                    lines.push(self.log_line_of_decoded_frame(&frame));
                    used += bytes;
                }
                Err(DecodeError::UnexpectedEof) if self.rest.len() - used <= FRAME_BYTES => break,
                _ => {
                    lines.push(log_line_for_undecodable_bytes(self.rest.len() - used));
                    used = self.rest.len();
                    break;
                }
            }
        }
        self.rest.drain(..used);
        lines
    }

    /// Decodes defmt frames that end with a zero.
    fn decode_delimited_defmt_frames(&mut self) -> Vec<LogLine> {
        let Some(end) = self.rest.iter().rposition(|byte| *byte == 0) else {
            if self.rest.len() > FRAME_BYTES {
                return vec![log_line_for_undecodable_bytes(std::mem::take(&mut self.rest).len())];
            }
            return Vec::new();
        };
        let whole: Vec<u8> = self.rest.drain(..=end).collect();
        let mut lines = Vec::new();
        for frame in whole.split_inclusive(|byte| *byte == 0).filter(|frame| frame.len() > 1) {
            let mut decoder = self.table.new_stream_decoder();
            decoder.received(frame);
            lines.push(match decoder.decode() {
                Ok(decoded) => self.log_line_of_decoded_frame(&decoded),
                Err(_) => log_line_for_undecodable_bytes(frame.len()),
            });
        }
        lines
    }

    /// Returns a decoded frame as a line of the log.
    fn log_line_of_decoded_frame(&self, frame: &Frame<'_>) -> LogLine {
        let place = self.places.get(&frame.index());
        LogLine {
            level: frame.level().map(|level| level.as_str().to_owned()),
            timestamp: frame.display_timestamp().map(|time| format_log_value(&time)),
            message: format_log_value(&frame.display_message()),
            place: place.map(|place| (place.file.to_string_lossy().into_owned(), place.line)),
            module: place.map(|place| place.module.clone()),
        }
    }
}

/// Returns the text of a value, as far as it can display itself.
fn format_log_value(shown: &dyn std::fmt::Display) -> String {
    let mut text = String::new();
    if write!(text, "{shown}").is_err() {
        text.push('?');
    }
    text
}

/// Returns the line that stands for `bytes` bytes that cannot be decoded.
fn log_line_for_undecodable_bytes(bytes: usize) -> LogLine {
    let message = format!("({bytes} bytes are not a defmt frame of this image)");
    LogLine { level: None, timestamp: None, message, place: None, module: None }
}
