//! The colors, each once: a light one that plotters writes, and the dark one that replaces it.
//!
//! A code host shows a plot as an image, so its page cannot style it; but a style sheet inside the image
//! follows the reader's preference. Plotters writes literal colors as attributes, and a style sheet can
//! select by attribute: `[fill="#0067A5"] { fill: #5AB4F0 }`. A viewer without style sheets shows the light
//! colors, which are complete by themselves.
//!
//! Series colors keep their order of lightness for readers who do not tell hues apart, and never stand alone:
//! a shape or a word always says the same.

use plotters::style::RGBColor;

/// What a color is for. No two have the same light color, else they could not be told apart in the dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    /// Behind everything.
    Background,
    /// Warm-ups stand on it.
    Shade,
    /// Lines to read positions by.
    Grid,
    /// Words and numbers.
    Text,
    /// Words that may be skipped.
    Muted,
    /// The control.
    Blue,
    /// First treatment.
    Vermilion,
    /// Second treatment; supported, held, accepted.
    Green,
    /// Third treatment.
    Purple,
    /// Fourth treatment.
    Amber,
    /// Sham and null arms; undecided.
    Gray,
    /// Refuted, violated, rejected.
    Red,
    /// Behind a number between minus and plus [`TINT_STEPS`]: how far it is from zero, and on which side.
    Tint(i8),
}

/// How many tints there are on either side of zero.
pub(super) const TINT_STEPS: i8 = 4;

/// Every ink with its light and its dark color.
const INKS: &[(Ink, u32, u32)] = &[
    (Ink::Background, 0xFF_FF_FF, 0x0D_11_17),
    (Ink::Shade, 0xEF_F2_F5, 0x1F_26_2E),
    (Ink::Grid, 0xD8_DE_E4, 0x30_36_3D),
    (Ink::Text, 0x1F_23_28, 0xE6_ED_F3),
    (Ink::Muted, 0x59_63_6E, 0x9D_A7_B1),
    (Ink::Blue, 0x00_67_A5, 0x5A_B4_F0),
    (Ink::Vermilion, 0xC8_4E_00, 0xFF_8A_4C),
    (Ink::Green, 0x00_7F_5C, 0x2F_CB_9C),
    (Ink::Purple, 0xA1_3D_83, 0xEE_9A_C9),
    (Ink::Amber, 0x94_68_00, 0xE8_BC_4A),
    (Ink::Gray, 0x6B_75_80, 0x8F_99_A4),
    (Ink::Red, 0xB8_23_1C, 0xFF_7B_72),
];

/// The tints from the lowest to the highest, light and dark: orange for less, blue for more, which readers who do not
/// tell red from green tell apart; the stronger, the farther from zero.
const TINTS: [(u32, u32); 2 * TINT_STEPS as usize + 1] = [
    (0xE9_8E_4A, 0x8A_4A_12),
    (0xF2_AE_7B, 0x6E_3D_14),
    (0xF8_CC_AA, 0x54_32_17),
    (0xFB_E6_D7, 0x3A_28_1A),
    (0xF4_F4_F2, 0x24_28_2D),
    (0xDD_EB_F7, 0x19_2E_42),
    (0xBB_D9_F0, 0x1A_40_62),
    (0x94_C5_E8, 0x1C_53_82),
    (0x6D_B0_DF, 0x20_65_A2),
];

/// The light and the dark color of every ink.
fn colors() -> impl Iterator<Item = (Ink, u32, u32)> {
    let tints = (-TINT_STEPS..=TINT_STEPS).zip(TINTS);
    INKS.iter().copied().chain(tints.map(|(step, (light, dark))| (Ink::Tint(step), light, dark)))
}

impl Ink {
    /// The color that is written into the picture.
    pub(super) fn light(self) -> RGBColor {
        let own = match self {
            Self::Tint(step) => Self::Tint(step.clamp(-TINT_STEPS, TINT_STEPS)),
            other => other,
        };
        let rgb = colors().find(|(ink, ..)| *ink == own).map_or(0, |(_, light, _)| light);
        let [_, red, green, blue] = rgb.to_be_bytes();
        RGBColor(red, green, blue)
    }
}

/// The style sheet that swaps every light color of a picture for its dark one. Tints are in few pictures, and only in the
/// style sheets of those.
pub(super) fn style(picture: &str) -> String {
    let mut css = String::from("<style>@media (prefers-color-scheme: dark) {\n");
    let wanted = |ink: Ink, light: u32| {
        !matches!(ink, Ink::Tint(_)) || picture.contains(&format!("fill=\"#{light:06X}\""))
    };
    for (_, light, dark) in colors().filter(|(ink, light, _)| wanted(*ink, *light)) {
        css.push_str(&format!("[fill=\"#{light:06X}\"] {{ fill: #{dark:06X} }}\n"));
        css.push_str(&format!("[stroke=\"#{light:06X}\"] {{ stroke: #{dark:06X} }}\n"));
    }
    css.push_str("}</style>\n");
    css
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance as WCAG 2 defines it.
    fn luminance(rgb: u32) -> f64 {
        let [_, channels @ ..] = rgb.to_be_bytes();
        let linear = channels.map(|it| {
            let it = f64::from(it) / 255.0;
            if it <= 0.040_45 { it / 12.92 } else { ((it + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    fn contrast(a: u32, b: u32) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn every_ink_is_its_own_color_in_light_and_dark() {
        let inks: Vec<_> = colors().collect();
        for (i, one) in inks.iter().enumerate() {
            for other in &inks[i + 1..] {
                assert!(one.1 != other.1 && one.2 != other.2, "{:?} and {:?}", one.0, other.0);
            }
        }
    }

    #[test]
    fn words_can_be_read_on_every_tint() {
        let (_, on_light, on_dark) = INKS[3];
        for (light, dark) in TINTS {
            assert!(contrast(light, on_light) >= 4.5 && contrast(dark, on_dark) >= 4.5, "{light:06X}");
        }
    }

    #[test]
    fn tints_are_the_stronger_the_farther_from_zero() {
        let middle = usize::from(TINT_STEPS.unsigned_abs());
        for side in [TINTS[..=middle].iter().rev().collect::<Vec<_>>(), TINTS[middle..].iter().collect()] {
            for pair in side.windows(2) {
                assert!(luminance(pair[0].0) > luminance(pair[1].0), "{pair:06X?}");
                assert!(luminance(pair[0].1) < luminance(pair[1].1), "{pair:06X?}");
            }
        }
    }

    #[test]
    fn what_must_be_read_stands_out_from_its_background() {
        let (_, light, dark) = INKS[0];
        for (ink, on_light, on_dark) in &INKS[3..] {
            assert!(contrast(*on_light, light) >= 4.5, "{ink:?} in light");
            assert!(contrast(*on_dark, dark) >= 4.5, "{ink:?} in dark");
        }
    }
}
